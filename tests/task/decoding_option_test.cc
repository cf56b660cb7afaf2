#include "heed/task/decoding_option.h"

#include <gtest/gtest.h>

#include <limits>
#include <set>
#include <string>

#include "heed/base/error.h"

namespace heed::task {
namespace {

std::string refusal(const auto& check) {
  try {
    check();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(DecodingOption, NamesAreUniqueAlsoThoseOfOtherPrograms) {
  std::set<std::string> names;
  for (const DecodingOption& option : decoding_options()) {
    EXPECT_TRUE(names.insert(option.name).second) << option.name;
    for (const char* other : option.other_names) EXPECT_TRUE(names.insert(other).second) << other;
  }
  EXPECT_GT(names.size(), 30u);
}

TEST(DecodingOption, IsFoundByAnyOfItsNames) {
  for (const DecodingOption& option : decoding_options()) {
    EXPECT_EQ(find_decoding_option(option.name), &option);
    for (const char* other : option.other_names) EXPECT_EQ(find_decoding_option(other), &option);
  }
  EXPECT_EQ(find_decoding_option("num_beams"), find_decoding_option("beam"));
  EXPECT_EQ(find_decoding_option("beem"), nullptr);
}

TEST(DecodingOption, DefaultsAreValidAndChangeNothing) {
  const PredictOptions defaults;
  EXPECT_NO_THROW(check_values(defaults));
  for (const ModelKinds kind : {kStepwise, kParallel, kLabels}) EXPECT_NO_THROW(check_readers(defaults, kind));
  for (const DecodingOption& option : decoding_options()) EXPECT_TRUE(option.is_default(defaults)) << option.name;
}

TEST(DecodingOption, WhatItNeedsExists) {
  for (const DecodingOption& option : decoding_options()) {
    const bool known = !*option.needed || find_decoding_option(option.needed);
    EXPECT_TRUE(known) << option.name;
  }
}

TEST(DecodingOption, NumbersOutsideOfTheirRangesAreRefusedByName) {
  EXPECT_EQ(refusal([] { check_values({.beam = 1001}); }), "beam: expected a number from 0 to 1000, got 1001");
  EXPECT_EQ(refusal([] { check_values({.nbest = 0}); }), "nbest: expected a number from 1 to 1000, got 0");
  EXPECT_EQ(refusal([] { check_values({.sample = true, .top_p = 0.0}); }),
            "top_p: expected a number from 1e-09 to 1, got 0");
  EXPECT_NE(refusal([] { check_values({.length_penalty = std::numeric_limits<double>::quiet_NaN()}); }), "");
}

TEST(DecodingOption, WhatIsForSamplesNeedsThem) {
  EXPECT_EQ(refusal([] { check_values({.temperature = 2.0}); }), "temperature 2 is only for sampling: it needs sample");
  EXPECT_NO_THROW(check_values({.sample = true, .temperature = 2.0}));
}

TEST(DecodingOption, WhatAModelDoesNotReadIsRefused) {
  EXPECT_NE(refusal([] { check_readers({.beam = 2}, kParallel); }).find("beam 2 is for models that write step by step"),
            std::string::npos);
  EXPECT_NO_THROW(check_readers({.beam = 1}, kParallel));  // greedy
  EXPECT_NE(refusal([] { check_readers({.iterations = 2}, kStepwise); }).find("iterations 2 is for models"),
            std::string::npos);
  EXPECT_EQ(refusal([] { check_readers({.must = {"a"}}, kLabels); }),
            "must is for models that write; this one gives a label");
  EXPECT_NO_THROW(check_readers({.nbest = 3}, kLabels));
}

TEST(DecodingOption, FingerprintsDifferWhereverASearchDiffers) {
  std::set<std::string> texts;
  const PredictOptions all[] = {{},
                                {.beam = 2},
                                {.must = {"a b"}},
                                {.must = {"a", "b"}},
                                {.must_not = {"a b"}},
                                {.prefix = "a"},
                                {.prefix = "a\nno_repeat_ngram 1:2"},
                                {.no_repeat_ngram = 2},
                                {.sample = true},
                                {.sample = true, .seed = 1},
                                {.alignments = false}};
  for (const PredictOptions& options : all) EXPECT_TRUE(texts.insert(fingerprint(options)).second);
  EXPECT_EQ(fingerprint({.seed = 1}), fingerprint({.seed = 2}));  // nothing is drawn
}

}  // namespace
}  // namespace heed::task
