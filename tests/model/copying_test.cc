// Decoders that copy: at once and step by step they say the same, what they say is a distribution, every gradient is
// the slope of the loss, and a model learns to write words that it has no token for.
#include <cmath>
#include <limits>

#include "heed/attend/watch.h"
#include "heed/base/error.h"
#include "heed/model/search/batches.h"
#include "heed/model/search/score.h"
#include "tests/base/folder.h"
#include "tests/model/slopes.h"
#include "tests/model/small.h"

namespace heed::model::test {
namespace {

constexpr int32_t kExtra = kVocabulary;  // the first id of a word that only the source has

/// Sources where words of the vocabulary and others stand, some twice; targets that have both.
data::Batch batch_to_copy() {
  data::Batch batch;
  const std::vector<std::vector<int32_t>> copies = {{3, kExtra, 3, 5, kExtra + 1}, {4, 7, -1}, {kExtra}, {9, 9, 10, 4}};
  const std::vector<std::vector<int32_t>> targets = {{kExtra, 3, 6, kExtra + 1}, {7, 8}, {kExtra, kExtra, 4}, {}};
  for (const std::vector<int32_t>& of_source : copies) {
    std::vector<int32_t> tokens = of_source;
    for (int32_t& token : tokens)
      if (token < 0 || token >= kVocabulary) token = 0;
    batch.sources.add({.tokens = tokens, .copies = of_source});
  }
  for (const std::vector<int32_t>& target : targets) batch.targets.add_tokens(target);
  return batch;
}

struct CopyWay {
  const char* name;
  Options options;
};

std::vector<CopyWay> copy_ways() {
  std::vector<CopyWay> all;
  for (const char* kind : {"rnn", "transformer"}) {
    Options o = small(kind);
    o.copying.on = true;
    all.push_back({kind, o});
    o.decoder_layers = kind == std::string("transformer") ? 2 : 1;
    o.attention.heads = 2;
    o.copying.layer = 0;
    o.copying.head = 1;
    all.push_back({"one head", o});
    o.copying.head = -1;
    o.copying.coverage = 0.7f;
    all.push_back({"coverage", o});
  }
  Options o = small("rnn");
  o.copying.on = true;
  o.input_feeding = true;
  all.push_back({"input feeding", o});
  o.attention.heads = 2;
  o.copying.coverage = 0.5f;
  all.push_back({"input feeding, coverage", o});
  o = small("rnn");
  o.copying.on = true;
  o.attention.time = "forced_forward";
  all.push_back({"forced_forward", o});
  o.copying.coverage = 1.0f;
  all.push_back({"forced_forward, coverage", o});
  o.attention = {};
  o.attention.score = "additive";
  o.attention.normalise = "sparsemax";
  o.copying.coverage = 0.0f;
  all.push_back({"sparsemax", o});
  return all;
}

/// [rows] of log p of the right tokens, as a search sees them.
std::vector<double> copied_by_steps(const Seq2Seq& model, const data::Batch& batch, bool sums_to_one) {
  std::vector<double> all(batch.targets.out.size());
  Tape tape(kQuiet);
  const auto state = model.start(tape, batch.sources, 9);
  for (int64_t t = 0; t < 5; ++t) {
    std::vector<int32_t> tokens;
    for (int64_t b = 0; b < batch.targets.size(); ++b)
      tokens.push_back(t < batch.targets.length(b)
                           ? batch.targets.in[static_cast<size_t>(batch.targets.offsets[static_cast<size_t>(b)] + t)]
                           : kEnd);
    tape.reset();
    const Tensor log_p = model.step(tokens, *state, tape);
    for (int64_t b = 0; b < batch.targets.size(); ++b) {
      double sum = 0.0;
      for (int64_t v = 0; v < log_p.cols(); ++v) sum += std::exp(double{log_p.row(b)[v]});
      if (sums_to_one && b != 1) {  // source 1 has a token that no target can have
        EXPECT_NEAR(sum, 1.0, 1e-5);
      }
      if (t >= batch.targets.length(b)) continue;
      const auto row = static_cast<size_t>(batch.targets.offsets[static_cast<size_t>(b)] + t);
      all[row] = log_p.row(b)[batch.targets.out[row]];
    }
  }
  return all;
}

TEST(Copying, AtOnceAsStepByStep) {
  const data::Batch batch = batch_to_copy();
  for (const CopyWay& way : copy_ways()) {
    SCOPED_TRACE(way.options.kind + ", " + way.name);
    const Made made(way.options);
    Tape tape(kQuiet);
    const OutputLoss loss = made.model.loss(tape, batch, {});
    std::vector<double> at_once(loss.row_nll.begin(), loss.row_nll.end());
    const std::vector<double> steps = copied_by_steps(made.model, batch, true);
    ASSERT_EQ(at_once.size(), steps.size());
    for (size_t r = 0; r < steps.size(); ++r)
      if (std::isfinite(steps[r])) {
        EXPECT_NEAR(-at_once[r], steps[r], 2e-4) << "row " << r;
      }
    // ... and as scheduled sampling sees it.
    tape.reset();
    std::vector<double> logits(steps.size());
    made.model.each_logits(tape, batch.sources, {batch.targets.in, batch.targets.offsets},
                           [&](int64_t first, Tensor of_rows) {
                             for (int64_t r = 0; r < of_rows.rows(); ++r) {
                               const auto row = static_cast<size_t>(first + r);
                               logits[row] = of_rows.row(r)[batch.targets.out[row]];
                             }
                           });
    for (size_t r = 0; r < steps.size(); ++r)
      if (std::isfinite(steps[r])) {
        EXPECT_NEAR(logits[r], steps[r], 2e-4) << "row " << r;
      }
  }
}

TEST(Copying, EveryGradientIsTheSlope) {
  const data::Batch batch = batch_to_copy();
  for (const CopyWay& way : copy_ways()) {
    if (way.name == std::string("sparsemax")) continue;  // it has corners
    SCOPED_TRACE(way.options.kind + ", " + way.name);
    Options smooth = way.options;
    smooth.activation = "gelu";
    Made made(smooth);
    const auto loss = [&] {
      Tape tape({.recording = false, .seed = 4});
      return double{made.model.loss(tape, batch, {.label_smoothing = 0.1f, .scale = 0.2f}).loss.item()};
    };
    Tape tape({.seed = 4});
    tape.backward(made.model.loss(tape, batch, {.label_smoothing = 0.1f, .scale = 0.2f}).loss);
    expect_slopes(made.parameters, loss);
  }
}

/// The batch decides nothing: not even how many words the other sources have beside the vocabulary.
TEST(Copying, BatchesDoNotMatter) {
  const data::Batch batch = batch_to_copy();
  for (const char* kind : {"rnn", "transformer"}) {
    Options o = small(kind);
    o.copying.on = true;
    const Made made(o);
    const search::Options how{.longest = 8, .beam = 3, .nbest = 3};
    search::TapePool tapes;
    const std::vector<search::Result> together = search::search_all(made.model, tapes, {.sources = batch.sources}, how);
    for (int64_t b = 0; b < batch.sources.size(); ++b) {
      const int64_t only[] = {b};
      const data::Sources alone = batch.sources.pack(only);
      const search::Result one = search::search_all(made.model, tapes, {.sources = alone}, how).front();
      for (size_t h = 0; h < one.hypotheses.size(); ++h) {
        EXPECT_EQ(one.hypotheses[h].tokens, together[static_cast<size_t>(b)].hypotheses[h].tokens);
        EXPECT_EQ(one.hypotheses[h].log_probability, together[static_cast<size_t>(b)].hypotheses[h].log_probability);
      }
    }
  }
}

/// Targets are their sources' last two words, which are all unknown: only copying can write them.
TEST(Copying, LearnsToWriteWordsThatItHasNoTokenFor) {
  Options o = small("rnn");
  o.copying.on = true;
  o.width = 16;
  Parameters parameters(3);
  const Seq2Seq model(parameters, o);
  data::Batch batch;
  for (int32_t i = 0; i < 8; ++i) {
    std::vector<int32_t> tokens, copies;
    for (int32_t j = 0; j < 2 + i % 3; ++j) tokens.push_back(3 + (i + j) % 6), copies.push_back(tokens.back());
    for (const int32_t extra : {kExtra, kExtra + 1}) tokens.push_back(0), copies.push_back(extra);
    batch.sources.add({.tokens = tokens, .copies = copies});
    batch.targets.add_tokens(std::vector<int32_t>{kExtra, kExtra + 1});
  }
  double last = 0.0;
  for (int step = 0; step < 300; ++step) {
    Tape tape({.seed = static_cast<uint64_t>(step)});
    const OutputLoss loss = model.loss(tape, batch, {.scale = 1.0f / 24.0f});
    last = loss.negative_log_likelihood / 24.0;
    parameters.forget_gradients();
    tape.backward(loss.loss);
    for (Parameter& p : parameters)
      for (size_t n = 0; n < p.value.size(); ++n) p.value[n] -= 0.5f * p.gradient[n];
  }
  EXPECT_LT(last, 0.3);
  search::TapePool tapes;
  for (const search::Result& found :
       search::search_all(model, tapes, {.sources = batch.sources}, {.never = {0, 1}, .longest = 6}))
    EXPECT_EQ(found.best().tokens, (std::vector<int32_t>{kExtra, kExtra + 1}));
}

TEST(Copying, ShowsWhatWasCopied) {
  const data::Batch batch = batch_to_copy();
  Options o = small("transformer");
  o.copying.on = true;
  const Made made(o);
  attend::Watch watch;
  Tape tape(kQuiet);
  made.model.loss(tape, batch, {});
  const auto found = std::find_if(watch.calls().begin(), watch.calls().end(),
                                  [](const attend::WatchedCall& call) { return call.name == "copy"; });
  ASSERT_NE(found, watch.calls().end());
  ASSERT_EQ(found->weights.size(), 4u);
  EXPECT_EQ(found->weights[0].size(), 5u * 5u);  // target and its end, source
  double sum = 0.0;
  for (int i = 0; i < 5; ++i) sum += found->weights[0][static_cast<size_t>(i)];
  EXPECT_GT(sum, 0.0);
  EXPECT_LT(sum, 1.0);  // the rest is written
}

TEST(Copying, Mistakes) {
  Options o = small("rnn");
  o.copying.on = true;
  const Made made(o);
  const Batch plain(ragged());
  Tape tape(kQuiet);
  expect_part(error_of([&] { made.model.loss(tape, plain, {}); }), "to copy, the model needs the words of each source");
  o.copying.layer = 3;
  expect_part(error_of([&] { Made{o}; }), "model.copy_layer is 3, but the decoder has 1 layers");
  o.copying = {.on = true, .head = 7};
  expect_part(error_of([&] { Made{o}; }), "model.copy_head is 7");
  o.copying = {.on = true};
  o.attention.normalise = "hard_sampled";
  expect_part(error_of([&] { Made{o}; }), "draws where it looks");
  o = small("rnn");
  o.copying.on = true;
  o.attention.time = "static";
  const Made fixed(o);
  tape.reset();
  expect_part(error_of([&] { fixed.model.loss(tape, batch_to_copy(), {}); }), "this attention does not tell");
}

}  // namespace
}  // namespace heed::model::test
