#include "heed/text/metric/resample.h"

#include <cmath>

#include <gtest/gtest.h>

#include "heed/base/random.h"
#include "heed/text/metric/exact.h"
#include "heed/text/metric/perplexity.h"
#include "tests/base/folder.h"

namespace heed::metric {
namespace {

/// `right` of `count` segments are right: the first ones, beginning with `from`.
Statistics some_right(size_t from, size_t right, size_t count) {
  Statistics statistics(2);
  for (size_t i = 0; i < count; ++i)
    statistics.add(std::vector<double>{i >= from && i < from + right ? 1.0 : 0.0, 1.0});
  return statistics;
}

TEST(Resample, TheIntervalOfAShare) {
  // Of n segments with share p, the samples have the standard deviation sqrt(p (1 - p) / n).
  const Interval interval = confidence(Exact(), some_right(0, 120, 400), {.samples = 20000});
  const double deviation = 100 * std::sqrt(0.3 * 0.7 / 400);
  EXPECT_NEAR(interval.mean, 30, 0.1);
  EXPECT_NEAR(interval.low, 30 - 1.96 * deviation, 0.3);
  EXPECT_NEAR(interval.high, 30 + 1.96 * deviation, 0.3);
  EXPECT_DOUBLE_EQ(interval.half(), (interval.high - interval.low) / 2);
}

TEST(Resample, NothingVaries) {
  const Interval interval = confidence(Exact(), some_right(0, 7, 7));
  EXPECT_EQ(interval.low, 100);
  EXPECT_EQ(interval.high, 100);
  EXPECT_EQ(interval.mean, 100);
  EXPECT_EQ(interval.note(), "\u03BC = 100.00 \u00B1 0.00");
  EXPECT_EQ(Exact().score(some_right(0, 7, 7)).line(interval.note()),
            "exact match = 100.00 (\u03BC = 100.00 \u00B1 0.00) (7 of 7 right)");
}

TEST(Resample, TheSeedDecides) {
  const Statistics statistics = some_right(0, 20, 50);
  const Interval a = confidence(Exact(), statistics, {.seed = 1}), b = confidence(Exact(), statistics, {.seed = 1});
  EXPECT_EQ(a.mean, b.mean);
  EXPECT_NE(a.mean, confidence(Exact(), statistics, {.seed = 2}).mean);
}

TEST(Resample, EqualSystemsDoNotDiffer) {
  const Statistics statistics = some_right(0, 20, 50);
  EXPECT_EQ(paired_bootstrap(Exact(), statistics, statistics).p, 1);
  EXPECT_EQ(approximate_randomisation(Exact(), statistics, statistics).p, 1);
}

TEST(Resample, RandomisationAgainstTheSignTest) {
  // The systems differ in 12 segments, 10 of them for the one: by chance, 10 or more of 12 on either side.
  const Statistics a = some_right(0, 22, 60), b = some_right(10, 14, 60);
  double chance = 0;
  for (const double ways : {1.0, 12.0, 66.0}) chance += 2 * ways / 4096;
  const Comparison comparison = approximate_randomisation(Exact(), a, b, {.samples = 40000});
  EXPECT_NEAR(comparison.p, chance, 0.003);
  EXPECT_DOUBLE_EQ(comparison.baseline.value, 100.0 * 22 / 60);
  EXPECT_DOUBLE_EQ(comparison.system.value, 100.0 * 14 / 60);
}

TEST(Resample, ALargeDifferenceIsSignificant) {
  const Statistics a = some_right(0, 80, 100), b = some_right(0, 30, 100);
  EXPECT_LT(paired_bootstrap(Exact(), a, b).p, 0.01);
  EXPECT_LT(approximate_randomisation(Exact(), a, b).p, 0.01);
  const Comparison comparison = paired_bootstrap(Exact(), a, b);
  EXPECT_NEAR(comparison.baseline_interval.mean, 80, 1);
  EXPECT_NEAR(comparison.system_interval.mean, 30, 1);
}

TEST(Resample, ChanceIsRarelyCalledSignificant) {
  text::Random random(3);
  int bootstrap = 0, randomised = 0;
  const int rounds = 200;
  for (int round = 0; round < rounds; ++round) {
    Statistics a(2), b(2);
    for (int i = 0; i < 80; ++i)
      for (auto* statistics : {&a, &b})
        statistics->add(std::vector<double>{static_cast<double>(random.below(1000)) / 100, 3});
    const ResampleOptions options{.samples = 300, .seed = random.next()};
    bootstrap += paired_bootstrap(Perplexity(), a, b, options).p < 0.05;
    randomised += approximate_randomisation(Perplexity(), a, b, options).p < 0.05;
  }
  EXPECT_LT(bootstrap, rounds / 8);
  EXPECT_GT(randomised, 1);  // of 200, 10 are expected
  EXPECT_LT(randomised, rounds / 8);
}

TEST(Resample, Mistakes) {
  const Statistics five = some_right(0, 1, 5), six = some_right(0, 1, 6);
  expect_part(error_of([&] { paired_bootstrap(Exact(), five, six); }), "the baseline has 5 segments, the system 6");
  expect_part(error_of([&] { approximate_randomisation(Exact(), five, six); }), "5 segments, the system 6");
  expect_part(error_of([] { confidence(Exact(), Statistics(2)); }), "no segments");
  expect_part(error_of([] { confidence(Exact(), Statistics(3)); }), "3 numbers per segment, expected 2");
  expect_part(error_of([&] { confidence(Exact(), five, {.samples = 0}); }), "samples must be at least 1, not 0");
}

}  // namespace
}  // namespace heed::metric
