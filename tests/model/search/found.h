// Small models whose mind is made up, sources for them, and comparisons of what was found.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "heed/model/search/batches.h"
#include "heed/model/search/search.h"
#include "tests/model/ways.h"

namespace heed::search::test {

using model::test::kEnd;
using model::test::kQuiet;
using model::test::kStart;
using model::test::kVocabulary;
using model::test::Made;
using model::test::Way;
using model::test::ways;

/// Random weights give nearly equal probabilities; larger logits make a model that prefers something.
struct Decided : Made {
  explicit Decided(const model::Options& options, uint64_t seed = 5, float factor = 3.0f) : Made(options, seed) {
    for (Parameter& p : parameters)
      if (p.name == "output.weight")
        for (float& value : p.value) value *= factor;
  }
  /// Adds to the logit of a token.
  void favour(int32_t token, float by) {
    for (Parameter& p : parameters)
      if (p.name == "output.bias") p.value[static_cast<size_t>(token)] += by;
  }
};

struct Texts {
  std::vector<std::vector<int32_t>> texts;

  data::Sources sources;
  std::vector<int64_t> numbers;

  /// `which`: numbers of some of them, in this order; empty: all.
  explicit Texts(std::vector<std::vector<int32_t>> all, std::vector<int64_t> which = {}) : texts(std::move(all)) {
    if (which.empty())
      for (int64_t b = 0; b < std::ssize(texts); ++b) which.push_back(b);
    for (const int64_t b : which) sources.add(texts[static_cast<size_t>(b)]);
    numbers = which;
  }
  Input view() const { return {.sources = sources, .numbers = numbers}; }
};

inline std::vector<std::vector<int32_t>> ragged_sources() {
  return model::test::random_sentences({{3, 0}, {7, 0}, {1, 0}, {5, 0}, {4, 0}}, 8).sources;
}

inline std::vector<Result> find(const model::Seq2Seq& model, const Texts& texts, const Options& options) {
  Tape tape(kQuiet);
  return search(model, tape, texts.view(), options);
}

inline void expect_same(const Hypothesis& got, const Hypothesis& right, double tolerance = 1e-5) {
  ASSERT_EQ(got.tokens, right.tokens);
  ASSERT_EQ(got.finished, right.finished);
  ASSERT_NEAR(got.log_probability, right.log_probability, tolerance);
  ASSERT_NEAR(got.score, right.score, tolerance);
  ASSERT_EQ(got.token_log_probabilities.size(), right.token_log_probabilities.size());
  for (size_t t = 0; t < right.token_log_probabilities.size(); ++t)
    ASSERT_NEAR(got.token_log_probabilities[t], right.token_log_probabilities[t], tolerance);
  ASSERT_EQ(got.alignment.size(), right.alignment.size());
  for (size_t t = 0; t < right.alignment.size(); ++t) {
    ASSERT_EQ(got.alignment[t].size(), right.alignment[t].size());
    for (size_t j = 0; j < right.alignment[t].size(); ++j)
      ASSERT_NEAR(got.alignment[t][j], right.alignment[t][j], tolerance);
  }
}
inline void expect_same(const Result& got, const Result& right, double tolerance = 1e-5) {
  ASSERT_EQ(got.hypotheses.size(), right.hypotheses.size());
  for (size_t n = 0; n < right.hypotheses.size(); ++n) {
    SCOPED_TRACE("hypothesis " + std::to_string(n));
    ASSERT_NO_FATAL_FAILURE(expect_same(got.hypotheses[n], right.hypotheses[n], tolerance));
  }
}

}  // namespace heed::search::test
