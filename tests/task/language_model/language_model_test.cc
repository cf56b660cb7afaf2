#include "heed/task/language_model/language_model.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "heed/base/error.h"
#include "heed/task/language_model/text_pieces.h"
#include "heed/text/tokens.h"
#include "tests/model/slopes.h"

namespace heed::model::test {
namespace {

using task::LanguageModel;
using task::text_windows;
using task::TextGenerator;

constexpr int64_t kTokens = 9;

struct TextKind {
  std::string name;
  std::function<void(Options&)> change;
};

std::vector<TextKind> text_kinds() {
  const auto transformer = [](Options& o) {
    o.kind = "transformer", o.positions = "rotary", o.attention.heads = 2, o.activation = "gelu", o.norm = "pre";
  };
  return {
      {"lstm", [](Options& o) { o.look_back = "none"; }},
      {"gru_two_layers", [](Options& o) { o.look_back = "none", o.cell = "gru", o.decoder_layers = 2; }},
      {"key_value", [](Options& o) { o.attention.structure = "key_value", o.attention.window = 3; }},
      {"key_value_predict",
       [](Options& o) {
         o.width = 9, o.attention.structure = "key_value", o.attention.window = 2, o.attention.predict = 1;
       }},
      {"intra", [](Options& o) { o.attention.score = "intra"; }},
      {"additive", [](Options& o) { o.attention.score = "additive"; }},
      {"multi_head", [](Options& o) { o.attention.structure = "multi_head", o.attention.heads = 2; }},
      {"lstmn", [](Options& o) { o.kind = "lstmn"; }},
      {"lstmn_two_layers", [](Options& o) { o.kind = "lstmn", o.decoder_layers = 2; }},
      {"transformer", transformer},
      {"transformer_tied", [=](Options& o) { transformer(o), o.tied = "decoder", o.positions = "sinusoidal"; }},
      {"transformer_window",
       [=](Options& o) { transformer(o), o.attention.region = "causal+sliding_window", o.attention.window = 2; }},
      {"transformer_documents", [=](Options& o) { transformer(o), o.attention.region = "documents"; }},
      {"transformer_grouped",
       [=](Options& o) { transformer(o), o.attention.heads = 4, o.attention.kv_heads = 2, o.positions = "alibi"; }},
  };
}

Options options_of(const TextKind& kind) {
  Options o{.task = "language_model", .source_vocabulary = kTokens, .target_vocabulary = kTokens};
  o.width = 8;
  o.cell = "lstm";
  o.dropout = 0.0f;
  o.context = 5;
  kind.change(o);
  return o;
}

bool reads_windows(const TextKind& kind) {
  return decode::find_text_decoder(options_of(kind).decoder_kind()).reads_windows;
}

/// Two documents: 3 lines, and 1 line of two tokens.
const std::vector<int32_t> kText = {1, 4, 5, 6, 1, 7, 8, 3, 1, 4, 4, 6, 2, 1, 5, 3, 2};

std::shared_ptr<const task::TokenStore> store_of(std::span<const int32_t> ids) {
  auto tokens = std::make_shared<task::TokenStore>();
  tokens->add(ids);
  tokens->finish();
  return tokens;
}

data::Batch all_at_once(std::span<const int32_t> ids) {
  const task::TextPieces pieces(store_of(ids), 0, {.length = 1000});
  const std::vector<int64_t> first = {0};
  return pieces.pack(first);
}

std::vector<float> nll_of(const Model& model, const data::Batch& batch) {
  Tape tape({.recording = false, .training = false});
  const OutputLoss loss = model.loss(tape, batch, {});
  return {loss.row_nll.begin(), loss.row_nll.end()};
}

class TeacherForced : public testing::TestWithParam<TextKind> {};

/// The logits of all tokens of a batch are those that its loss is made of.
TEST_P(TeacherForced, LogitsAreThoseOfTheLoss) {
  Parameters parameters(3);
  const LanguageModel model(parameters, options_of(GetParam()));
  const data::Batch batch = all_at_once(kText);
  const std::vector<float> nll = nll_of(model, batch);
  Tape tape({.recording = false, .training = false});
  int64_t rows = 0;
  model.teacher_forced_logits(tape, batch, [&](int64_t first, Tensor logits) {
    EXPECT_EQ(first, rows);
    for (int64_t r = 0; r < logits.rows(); ++r, ++rows) {
      const int32_t right = batch.targets.out[static_cast<size_t>(rows)];
      if (right < 0) continue;
      double sum = 0.0;
      for (int64_t v = 0; v < logits.cols(); ++v) sum += std::exp(static_cast<double>(logits.row(r)[v]));
      EXPECT_NEAR(std::log(sum) - logits.row(r)[right], nll[static_cast<size_t>(rows)], 1e-5);
    }
  });
  EXPECT_EQ(rows, std::ssize(batch.targets.out));
}

INSTANTIATE_TEST_SUITE_P(, TeacherForced, testing::ValuesIn(text_kinds()),
                         [](const auto& info) { return info.param.name; });

/// Of a token, by the logits of a row.
double nll_in(const Tensor& logits, int64_t row, int32_t token) {
  double sum = 0;
  for (int64_t v = 0; v < kTokens; ++v) sum += std::exp(logits.row(row)[v]);
  return std::log(sum) - logits.row(row)[token];
}

/// Of a document that is judged, as validations do it: [tokens - 1].
std::vector<float> judged(const Model& model, std::span<const int32_t> text, const task::WindowRule& rule,
                          int64_t max_tokens) {
  const task::TextWindows windows(store_of(text), 0, rule);
  data::RecurrentCarry carried;
  std::vector<float> all;
  for (const data::Indices& batch : windows.batches({.max_tokens = max_tokens, .shuffle = false}, 0)) {
    data::Batch packed = windows.pack(batch);
    packed.carried = &carried;
    Tape tape({.recording = false, .training = false});
    Loss loss = model.loss(tape, packed, {});
    const std::span<const float> nll = loss.row_nll;
    carried = std::move(loss.carried);
    const std::vector<int32_t>& targets = packed.targets.out;
    for (size_t i = 0; i < nll.size(); ++i)
      if (targets[i] >= 0) all.push_back(nll[i]);
  }
  return all;
}

std::vector<int32_t> long_text() {
  std::vector<int32_t> text = {text::kStart};
  for (int32_t i = 0; i < 22; ++i) text.push_back(3 + (i * i + i / 3) % 6);
  text.push_back(text::kEnd);
  return text;
}

class LanguageModelTest : public testing::TestWithParam<TextKind> {};

TEST_P(LanguageModelTest, GradientsAreTheSlopesOfTheLoss) {
  Parameters parameters(1);
  const LanguageModel model(parameters, options_of(GetParam()));
  const data::Batch batch = all_at_once(kText);
  ASSERT_EQ(batch.targets.size(), 2);
  Tape tape;
  tape.backward(model.loss(tape, batch, {}).loss);
  expect_slopes(parameters, [&] {
    Tape plain({.recording = false, .training = true});
    return model.loss(plain, batch, {}).negative_log_likelihood;
  });
}

// What is read step by step is what was read at once: the same probabilities.
TEST_P(LanguageModelTest, StepsAreTheWholeText) {
  Parameters parameters(1);
  Options o = options_of(GetParam());
  o.context = 1000;
  const LanguageModel model(parameters, o);
  const std::vector<int32_t> text(kText.begin(), kText.begin() + 13);  // one document
  const std::vector<float> nll = nll_of(model, all_at_once(text));
  Tape tape({.recording = false, .training = false});
  for (const size_t read : {size_t{1}, size_t{6}}) {
    const auto beginning = data::Sources::of(std::span(text).first(read));
    tape.reset();
    const auto state = model.generator()->start(tape, beginning, 20);
    EXPECT_EQ(state->step(), static_cast<int64_t>(read) - 1);
    for (size_t i = read - 1; i + 1 < text.size(); ++i) {
      tape.reset();
      const Tensor logits = model.generator()->step(std::span(text).subspan(i, 1), *state, tape);
      EXPECT_NEAR(nll_in(logits, 0, text[i + 1]), nll[i], 2e-5) << GetParam().name << " at " << i;
    }
  }
}

// No token sees a later one or another document: what is changed there changes nothing here.
TEST_P(LanguageModelTest, NothingIsSeenThatComesLaterOrElsewhere) {
  Parameters parameters(1);
  const LanguageModel model(parameters, options_of(GetParam()));
  const std::vector<float> before = nll_of(model, all_at_once(kText));
  std::vector<int32_t> changed = kText;
  changed[6] = 4;  // of the first document: seen from row 6 on, predicted by row 5
  const std::vector<float> after = nll_of(model, all_at_once(changed));
  ASSERT_EQ(before.size(), after.size());
  for (size_t i = 0; i < 5; ++i) EXPECT_EQ(before[i], after[i]) << i;
  EXPECT_NE(before[5], after[5]);
  for (size_t i = 12; i < before.size(); ++i) EXPECT_EQ(before[i], after[i]) << i;
}

// One rule for what a token sees: a text that is judged, the same text as it would be written, from any place in it,
// and each window read by a call of its own.
TEST_P(LanguageModelTest, WhatIsJudgedIsWhatIsWritten) {
  Parameters parameters(1);
  const LanguageModel model(parameters, options_of(GetParam()));  // of a context of 5
  const std::vector<int32_t> text = long_text();
  const auto tokens = std::ssize(text) - 1;
  const bool transformer = reads_windows(GetParam());
  for (const int64_t stride : transformer ? std::vector<int64_t>{0, 1, 2, 5} : std::vector<int64_t>{0}) {
    const task::WindowRule rule = text_windows(options_of(GetParam()), stride);
    const std::vector<float> nll = judged(model, text, rule, 1);
    ASSERT_EQ(std::ssize(nll), tokens);
    EXPECT_EQ(judged(model, text, rule, 1000), nll) << "batches make a difference";
    const TextGenerator generator = model.generator_with(stride);
    Tape tape({.recording = false, .training = false});
    for (const int64_t read : {1, 5, 6, 13}) {
      tape.reset();
      const auto beginning = data::Sources::of(std::span(text).first(static_cast<size_t>(read)));
      const auto state = generator.start(tape, beginning, 30);
      EXPECT_EQ(state->step(), read - 1);
      for (int64_t i = read - 1; i < tokens; ++i) {
        tape.reset();
        const auto at = static_cast<size_t>(i);
        const Tensor logits = generator.step(std::span(text).subspan(at, 1), *state, tape);
        EXPECT_NEAR(nll_in(logits, 0, text[at + 1]), nll[at], 2e-5)
            << GetParam().name << " at " << i << ", stride " << stride << ", from " << read;
      }
    }
    // Windows by hand: tokens [begin, i] alone predict the next.
    for (int64_t i = 0; i < tokens; ++i) {
      const int64_t begin = transformer ? (i < 5 ? 0 : ((i - 5) / rule.stride + 1) * rule.stride) : 0;
      const std::vector<int32_t> window(text.begin() + begin, text.begin() + i + 2);
      EXPECT_NEAR(nll_of(model, all_at_once(window)).back(), nll[static_cast<size_t>(i)], 2e-5)
          << GetParam().name << " at " << i << ", stride " << stride;
    }
  }
}

// The rows of a search change places, and each takes its tokens with it.
TEST_P(LanguageModelTest, WhatIsReadAgainBelongsToItsRow) {
  Parameters parameters(1);
  const LanguageModel model(parameters, options_of(GetParam()));
  const std::vector<int32_t> first = long_text();
  std::vector<int32_t> second = first;
  for (size_t i = 1; i + 1 < second.size(); ++i) second[i] = 3 + (first[i] + 1) % 6;
  Tape tape({.recording = false, .training = false});
  const auto last_logits = [&](const std::vector<std::vector<int32_t>>& texts, bool change) {
    data::Sources starts;
    for (size_t i = 0; i < texts.size(); ++i) starts.add(std::span(&text::kStart, 1));
    tape.reset();
    const auto state = model.generator()->start(tape, starts, 30);
    std::vector<size_t> rows(texts.size());
    std::iota(rows.begin(), rows.end(), size_t{0});
    std::vector<float> logits;
    for (size_t t = 0; t + 1 < texts[0].size(); ++t) {
      tape.reset();
      std::vector<int32_t> tokens;
      for (const size_t row : rows) tokens.push_back(texts[row][t]);
      const Tensor found = model.generator()->step(tokens, *state, tape);
      const float* row = found.row(std::find(rows.begin(), rows.end(), size_t{0}) - rows.begin());
      logits.assign(row, row + kTokens);
      if (change && t % 3 == 1) {
        state->select(std::vector<int64_t>{1, 0});
        std::swap(rows[0], rows[1]);
      }
    }
    return logits;
  };
  const std::vector<float> alone = last_logits({first}, false), together = last_logits({first, second}, true);
  for (size_t v = 0; v < alone.size(); ++v) EXPECT_NEAR(alone[v], together[v], 1e-5) << GetParam().name;
}

INSTANTIATE_TEST_SUITE_P(, LanguageModelTest, testing::ValuesIn(text_kinds()),
                         [](const auto& i) { return i.param.name; });

// A recurrent model that reads a text piece by piece gives what it gives for the whole.
TEST(LanguageModel, CarriedStatesMakePiecesOne) {
  for (const TextKind& kind : text_kinds()) {
    if (reads_windows(kind)) continue;
    Parameters parameters(1);
    Options o = options_of(kind);
    o.context = 16;  // what intra-attention looks back
    const LanguageModel model(parameters, o);
    const std::vector<float> whole = nll_of(model, all_at_once(kText));
    for (const int64_t length : {1, 2, 5}) {
      const task::TextPieces pieces(store_of(kText), 0, {.length = length, .carried = true});
      data::RecurrentCarry carried;
      std::vector<float> together;
      for (const data::Indices& batch : pieces.batches({.max_tokens = 1, .shuffle = false}, 0)) {
        data::Batch packed = pieces.pack(batch);
        packed.carried = &carried;
        Tape tape({.recording = false, .training = false});
        const data::RecurrentCarry before = carried;
        Loss loss = model.loss(tape, packed, {});
        EXPECT_EQ(carried, before) << "what it goes on from is only read";
        together.insert(together.end(), loss.row_nll.begin(), loss.row_nll.end());
        carried = std::move(loss.carried);
      }
      ASSERT_EQ(together.size(), whole.size()) << kind.name;
      for (size_t i = 0; i < whole.size(); ++i) EXPECT_NEAR(together[i], whole[i], 2e-5) << kind.name << " at " << i;
    }
  }
}

// Without what is carried, the pieces are strangers.
TEST(LanguageModel, PiecesThatCarryNothingBeginAnew) {
  Parameters parameters(1);
  const LanguageModel model(parameters, options_of(text_kinds().front()));
  const task::TextPieces pieces(store_of(kText), 0, {.length = 5, .carried = true});
  const std::vector<int64_t> second = {5};
  const auto packed = pieces.pack(second);
  const std::vector<float> cold = nll_of(model, packed), whole = nll_of(model, all_at_once(kText));
  EXPECT_GT(std::abs(cold[0] - whole[5]), 1e-4);
}

// The region documents inside one sequence, and a sequence for each document, are the same.
TEST(LanguageModel, DocumentsInOneSequenceAreDocumentsApart) {
  const auto make = [](const char* region) {
    return options_of({"", [=](Options& o) {
                         o.kind = "transformer", o.positions = "rotary", o.attention.heads = 2;
                         o.attention.region = region;
                         o.context = 50;
                       }});
  };
  Parameters apart_parameters(1), together_parameters(1);
  const LanguageModel apart(apart_parameters, make("causal")), together(together_parameters, make("documents"));
  const std::vector<float> a = nll_of(apart, all_at_once(kText)), b = nll_of(together, all_at_once(kText));
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-5) << i;
}

TEST(LanguageModel, WhatDoesNotLookBackIsRefused) {
  const auto refused = [&](const std::function<void(Options&)>& change) -> std::string {
    try {
      Parameters fresh(1);
      const LanguageModel model(fresh, options_of({"", change}));
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(refused([](Options& o) { o.attention.structure = "hierarchical"; }).find("hierarchical"),
            std::string::npos);
  EXPECT_NE(refused([](Options& o) { o.attention.time = "forced_forward"; }).find("forced_forward"), std::string::npos);
  EXPECT_NE(refused([](Options& o) { o.attention.structure = "key_value", o.width = 7; }).find('7'), std::string::npos);
  EXPECT_NE(refused([](Options& o) { o.kind = "transformer", o.attention.structure = "key_value"; }).find("key_value"),
            std::string::npos);
  EXPECT_NE(refused([](Options& o) {
              o.attention.structure = "key_value", o.attention.window = 2, o.tied = "decoder";
            }).find("tied"),
            std::string::npos);
}

}  // namespace
}  // namespace heed::model::test
