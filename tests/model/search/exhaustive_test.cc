// slow: 3 s
// With a beam that leaves nothing out, beam search is the enumeration of everything that can be said.
#include <cmath>

#include "heed/model/search/strategies.h"
#include "tests/model/search/found.h"

namespace heed::search::test {
namespace {

constexpr int32_t kTokens = 4;  // two that are nothing, START and END
constexpr int64_t kLongest = 4;
constexpr int64_t kEverything = 200;  // more than 3^4 + 3^3 continuations

struct Case {
  std::string name;
  std::string kind;
  Options options;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class Exhaustive : public testing::TestWithParam<Case> {};

/// The formulas as they stand in the paper, in double.
double reference_score(const Hypothesis& h, const Options& o) {
  const auto n = static_cast<double>(h.token_log_probabilities.size());
  double score = h.log_probability;
  score /= o.length == LengthNormalisation::mean ? n : std::pow(5.0 + n, o.alpha) / std::pow(6.0, o.alpha);
  if (o.beta == 0.0) return score;
  for (size_t j = 0; j < h.alignment[0].size(); ++j) {
    double sum = 0.0;
    for (const auto& row : h.alignment) sum += row[j];
    score += o.beta * std::log(std::min(sum, 1.0));
  }
  return score;
}

/// One hypothesis, step by step without any search.
Hypothesis forced(const model::Seq2Seq& model, const std::vector<int32_t>& source, std::vector<int32_t> tokens,
                  bool finished) {
  Hypothesis h{.tokens = tokens, .finished = finished};
  Tape tape(kQuiet);
  const auto state = model.start(tape, data::Sources::of(source), kLongest);
  if (finished) tokens.push_back(kEnd);
  int32_t before = kStart;
  for (size_t t = 0; t < tokens.size(); ++t) {
    decode::Alignment alignment;
    const Tensor logits = model.step(std::vector<int32_t>{before}, *state, tape, &alignment);
    double sum = 0.0;
    for (int32_t v = 0; v < kTokens; ++v) sum += std::exp(static_cast<double>(logits.row(0)[v]));
    const double log_probability = logits.row(0)[tokens[t]] - std::log(sum);
    h.log_probability += log_probability;
    h.token_log_probabilities.push_back(static_cast<float>(log_probability));
    const attend::Weights& w = alignment.layers.back();
    auto& row = h.alignment.emplace_back(source.size(), 0.0f);
    for (int64_t head = 0; head < w.heads; ++head)
      for (size_t j = 0; j < row.size(); ++j) row[j] += w.at(0, head, 0)[j] / static_cast<float>(w.heads);
    before = tokens[t];
  }
  return h;
}

std::vector<Hypothesis> enumerate(const model::Seq2Seq& model, const std::vector<int32_t>& source, const Options& o) {
  std::vector<Hypothesis> all;
  std::vector<std::vector<int32_t>> open = {{}};
  for (int64_t t = 0; t < kLongest; ++t) {
    std::vector<std::vector<int32_t>> longer;
    for (const auto& tokens : open) {
      all.push_back(forced(model, source, tokens, true));
      for (int32_t v = 0; v < kTokens; ++v)
        if (v != kEnd) {
          longer.push_back(tokens);
          longer.back().push_back(v);
        }
    }
    open = longer;
  }
  for (const auto& tokens : open) all.push_back(forced(model, source, tokens, false));
  for (Hypothesis& h : all) h.score = reference_score(h, o);
  std::stable_sort(all.begin(), all.end(), [](const Hypothesis& a, const Hypothesis& b) {
    return a.finished != b.finished ? a.finished : a.score > b.score;
  });
  return all;
}

TEST_P(Exhaustive, IsWhatBeamSearchFinds) {
  for (const uint64_t seed : {5, 6, 7}) {
    SCOPED_TRACE(seed);
    model::Options o = model::test::small(GetParam().kind);
    o.target_vocabulary = kTokens;
    Decided made(o, seed);
    made.favour(kEnd, seed == 7 ? -2.0f : 0.0f);  // one for which long targets win
    const Texts texts(ragged_sources());
    Options options = GetParam().options;
    options.longest = kLongest;
    options.beam = kEverything;
    options.alignment = true;
    const std::vector<Result> found = find(made.model, texts, options);
    for (size_t b = 0; b < found.size(); ++b) {
      SCOPED_TRACE("sentence " + std::to_string(b));
      std::vector<Hypothesis> right = enumerate(made.model, texts.texts[b], options);
      right.resize(static_cast<size_t>(options.nbest));
      ASSERT_NO_FATAL_FAILURE(expect_same(found[b], Result{right}));
    }
  }
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const char* kind : {"rnn", "transformer"})
    for (const int64_t nbest : {1, 5, 60}) {  // 60: 40 that end, and 20 that do not
      const auto add = [&](const char* name, Options o) {
        o.nbest = nbest;
        all.push_back({std::string(kind) + "_" + name + "_" + std::to_string(nbest), kind, o});
      };
      add("plain", {});
      add("alpha", {.alpha = 0.6});
      add("large_alpha", {.alpha = 2.0});
      add("mean", {.length = LengthNormalisation::mean});
      add("coverage", {.beta = 0.4});
      add("alpha_and_coverage", {.alpha = 1.0, .beta = 0.2});
    }
  return all;
}
INSTANTIATE_TEST_SUITE_P(, Exhaustive, testing::ValuesIn(cases()), [](const auto& info) { return info.param.name; });

// --------------------------------------------------------------------------------------------------- early stopping

int64_t steps_of(const Decided& made, const Options& options) {
  const Texts texts({{3, 4, 5}});
  const Input sources = texts.view();
  Tape tape(kQuiet);
  Stepper stepper(made.model, tape, sources, options);
  beam_search(stepper);
  return stepper.done();
}

TEST(EarlyStop, WaitsForNothingThatCannotCome) {
  Decided made(model::test::small("transformer"));
  made.favour(kEnd, 6.0f);  // END at once, nearly for sure
  EXPECT_EQ(steps_of(made, {.longest = 9, .beam = 4}), 1);
  EXPECT_GT(steps_of(made, {.longest = 9, .beam = 4, .nbest = 4}), 1);
}

TEST(EarlyStop, LooksFurtherWhereLengthIsRewarded) {
  bool ever = false;
  for (const float favour : {1.0f, 2.0f, 3.0f, 4.0f}) {
    Decided made(model::test::small("rnn"));
    made.favour(kEnd, favour);
    const int64_t plain = steps_of(made, {.longest = 9, .beam = 4});
    const int64_t mean = steps_of(made, {.longest = 9, .beam = 4, .length = LengthNormalisation::mean});
    EXPECT_LE(plain, mean);
    ever |= plain < mean;
  }
  EXPECT_TRUE(ever);
}

}  // namespace
}  // namespace heed::search::test
