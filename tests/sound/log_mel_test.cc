// Frames against librosa (tests/golden/make_log_mel.py), and the transform against its formula.
#include "heed/sound/log_mel.h"

#include <cmath>
#include <fstream>
#include <numbers>

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/sha256.h"
#include "heed/sound/fourier.h"
#include "heed/sound/resample.h"

namespace heed::sound {
namespace {

std::vector<float> signal(int64_t count) {
  std::vector<float> all;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t tone = std::abs(i * 29 % 400 - 200) - 100, noise = (i * i * 7 + i * 13) % 2001 - 1000;
    const int64_t loud = i / 300 % 3;
    all.push_back(
        static_cast<float>(static_cast<double>(tone * 3 * (loud > 0 ? 1 : 0) + noise * (loud > 1 ? 1 : 0)) / 2048.0));
  }
  return all;
}

TEST(LogMel, IsWhatLibrosaComputes) {
  const auto all = nlohmann::json::parse(std::ifstream(HEED_TEST_DATA "/../golden/log_mel.json"));
  ASSERT_GE(all["cases"].size(), 5u);
  for (const auto& golden : all["cases"]) {
    const MelOptions options = {
        .rate = golden["rate"], .window = golden["window"], .hop = golden["hop"], .bands = golden["bands"]};
    const Frames frames = LogMel(options)(signal(golden["samples"]));
    ASSERT_EQ(frames.rows, std::ssize(golden["frames"]));
    ASSERT_EQ(frames.columns, options.bands);
    for (int64_t t = 0; t < frames.rows; ++t)
      for (int64_t b = 0; b < frames.columns; ++b) {
        // Written with four digits; a float near 80 has steps of 8e-6.
        const double expected = golden["frames"][static_cast<size_t>(t)][static_cast<size_t>(b)];
        EXPECT_NEAR(frames.values[static_cast<size_t>(t * frames.columns + b)], expected, 6e-5)
            << options.rate << ", frame " << t << ", band " << b;
      }
  }
}

TEST(Fourier, IsItsFormula) {
  for (const int64_t n : {4, 8, 64, 256}) {
    std::vector<double> x;
    for (int64_t i = 0; i < n; ++i) x.push_back(static_cast<double>(i * i * 37 % 101) / 50.0 - 1.0);
    std::vector<double> power(static_cast<size_t>(n / 2 + 1)), work(static_cast<size_t>(n));
    Fourier(n).power(x, power, work);
    for (int64_t k = 0; k <= n / 2; ++k) {
      double re = 0, im = 0;
      for (int64_t i = 0; i < n; ++i) {
        const double angle = 2 * std::numbers::pi * static_cast<double>(k * i % n) / static_cast<double>(n);
        re += x[static_cast<size_t>(i)] * std::cos(angle);
        im -= x[static_cast<size_t>(i)] * std::sin(angle);
      }
      EXPECT_NEAR(power[static_cast<size_t>(k)], re * re + im * im, 1e-10 * static_cast<double>(n * n))
          << n << " " << k;
    }
  }
  EXPECT_THROW(Fourier(12), Error);
  EXPECT_THROW(Fourier(2), Error);
}

// Of another rate, and normalised: every number of a recording's way to a model.
TEST(LogMel, HasTheSameBitsOnEveryMachine) {
  Frames frames = LogMel({.rate = 8000, .window = 200, .hop = 80, .bands = 40})(resampled(signal(3000), 11025, 8000));
  normalise(frames, Normalise::bands);
  file::Sha256 hash;
  hash.add(std::as_bytes(std::span<const float>(frames.values)));
  EXPECT_EQ(hash.hex(), "d8ac25ec1d14d19a6afa8929281040d485b39bc84dc1a4d0d233b3bd5a254ae9");
}

TEST(LogMel, RefusesImpossibleFrames) {
  EXPECT_THROW(LogMel({.rate = 10}), Error);
  EXPECT_THROW(LogMel({.hop = 0}), Error);
  EXPECT_THROW(LogMel({.bands = 0}), Error);
}

TEST(LogMel, SilenceAndLittleAreFrames) {
  const LogMel log_mel({.rate = 8000, .window = 200, .hop = 80, .bands = 40});
  EXPECT_EQ(log_mel(std::vector<float>(800, 0.0f)).rows, 11);
  for (const float value : log_mel(std::vector<float>(800, 0.0f)).values) EXPECT_EQ(value, -100.0f);
  EXPECT_EQ(log_mel(std::vector<float>(1, 0.5f)).rows, 1);
}

TEST(Normalise, LeavesNoMeanAndADeviationOfOne) {
  Frames frames{.rows = 3, .columns = 2, .values = {1, 7, 2, 7, 6, 7}};
  Frames all = frames, none = frames;
  normalise(none, Normalise::none);
  EXPECT_EQ(none.values, frames.values);
  normalise(frames, Normalise::bands);
  const double deviation = std::sqrt((4.0 + 1.0 + 9.0) / 3.0);
  const std::vector<double> expected = {-2 / deviation, 0, -1 / deviation, 0, 3 / deviation, 0};
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(frames.values[i], expected[i], 1e-6) << i;
  normalise(all, Normalise::all);
  double sum = 0, square = 0;
  for (const float value : all.values) sum += value, square += value * value;
  EXPECT_NEAR(sum, 0, 1e-5);
  EXPECT_NEAR(square, 6, 1e-5);
}

}  // namespace
}  // namespace heed::sound
