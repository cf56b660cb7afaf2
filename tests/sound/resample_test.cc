#include "heed/sound/resample.h"

#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

namespace heed::sound {
namespace {

std::vector<float> tone(double frequency, int64_t rate, int64_t count) {
  std::vector<float> all;
  for (int64_t i = 0; i < count; ++i)
    all.push_back(static_cast<float>(
        std::sin(2 * std::numbers::pi * frequency * static_cast<double>(i) / static_cast<double>(rate))));
  return all;
}

// Where the kernel does not reach beyond the ends.
TEST(Resampled, AToneIsTheSameTone) {
  struct Rates {
    int64_t from, to;
  };
  for (const auto [from, to] :
       {Rates{44'100, 16'000}, {16'000, 8000}, {8000, 16'000}, {48'000, 44'100}, {8000, 11'027}})
    for (const double frequency : {100.0, 440.0, 3000.0}) {
      const std::vector<float> result = resampled(tone(frequency, from, from / 4), from, to);
      EXPECT_EQ(std::ssize(result), (from / 4 * to + from - 1) / from);
      const std::vector<float> expected = tone(frequency, to, std::ssize(result));
      for (int64_t i = to / 40; i < std::ssize(result) - to / 40; ++i)
        ASSERT_NEAR(result[static_cast<size_t>(i)], expected[static_cast<size_t>(i)], 2e-4)
            << from << " to " << to << ", " << frequency << " Hz, sample " << i;
    }
}

TEST(Resampled, WhatTheLowerRateCannotHoldIsNotThere) {
  const std::vector<float> result = resampled(tone(5000, 16'000, 8000), 16'000, 8000);
  for (size_t i = 200; i + 200 < result.size(); ++i) ASSERT_LT(std::abs(result[i]), 1e-3) << i;
}

TEST(Resampled, TheSameRateChangesNothing) {
  const std::vector<float> samples = {0.25f, -1.0f, 0.0f};
  EXPECT_EQ(resampled(samples, 8000, 8000), samples);
  EXPECT_TRUE(resampled({}, 8000, 16'000).empty());
}

}  // namespace
}  // namespace heed::sound
