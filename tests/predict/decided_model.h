// A model of letters whose mind is made up, and lines for it.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "heed/predict/predictor.h"
#include "tests/train/small_run.h"

namespace heed::predict::test {

using train::test::error_of;
using train::test::expect_in;

inline const std::vector<std::string> kLines = {"abc", "hello", "a", "zyx wvu", "", "deed", "a longer line of letters",
                                                "q"};

/// Random weights that prefer something.
inline void make_up_its_mind(trained::TrainedModel& trained, uint64_t seed) {
  for (Parameter& p : *trained.parameters)
    for (float& value : p.value) {
      seed = seed * 6364136223846793005u + 1442695040888963407u;
      value += static_cast<float>(seed >> 40) / static_cast<float>(1 << 24) - 0.5f;
    }
  trained.parameters->at("output.bias").value[text::kEnd] += 1.5f;  // not every output is cut off
}

/// Of these letters.
inline trained::TrainedModel decided(std::vector<std::string> overrides = {}, uint64_t seed = 1) {
  const recipe::Recipe recipe = train::test::small_recipe("nowhere", std::move(overrides));
  const std::string_view letters[] = {"abcdefghijklmnopqrstuvwxyz "};
  const auto tokens = text::Tokeniser::train(letters, {});
  trained::TrainedModel trained = trained::make_model(recipe::describe(recipe), {tokens, tokens}, recipe.train.seed);
  make_up_its_mind(trained, seed);
  return trained;
}

inline void expect_same(const Prediction& a, const Prediction& b) {
  EXPECT_EQ(a.error, b.error);
  EXPECT_EQ(a.source_tokens, b.source_tokens);
  ASSERT_EQ(a.nbest.size(), b.nbest.size());
  for (size_t n = 0; n < a.nbest.size(); ++n) {
    EXPECT_EQ(a.nbest[n].text, b.nbest[n].text);
    EXPECT_EQ(a.nbest[n].tokens, b.nbest[n].tokens);
    EXPECT_EQ(a.nbest[n].score, b.nbest[n].score);
    EXPECT_EQ(a.nbest[n].token_log_probabilities, b.nbest[n].token_log_probabilities);
    EXPECT_EQ(a.nbest[n].alignment, b.nbest[n].alignment);
  }
}

}  // namespace heed::predict::test
