#include "heed/train/optimise/clip.h"

#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "heed/base/error.h"
#include "tests/threads.h"

namespace heed::optimise {
namespace {

/// Parameters of these sizes, each with a gradient of normal numbers.
void fill(Parameters& all, const std::vector<int64_t>& sizes) {
  for (const int64_t n : sizes) {
    Parameter& p = all.make(fmt::format("p{}", n), {n}, Initialiser::constant(0.0f));
    p.gradient.resize(p.value.size());
    Initialiser::normal(1.0f).fill(p.gradient, 1, n, static_cast<uint64_t>(n));
    p.has_gradient = true;
  }
}

double plain_norm(const Parameters& all) {
  double sum = 0.0;
  for (const Parameter& p : all)
    if (p.has_gradient)
      for (const double g : p.gradient) sum += g * g;
  return std::sqrt(sum);
}

TEST(Clip, NormOfAllThatHasAGradient) {
  Parameters all;
  EXPECT_EQ(gradient_norm(all), 0.0);
  fill(all, {1, 7, 65, 257, 16384, 100003});
  EXPECT_NEAR(gradient_norm(all), plain_norm(all), 1e-10);
  all.at("p100003").has_gradient = false;
  EXPECT_NEAR(gradient_norm(all), plain_norm(all), 1e-10);
}

TEST(Clip, ScalesDownToTheLimit) {
  Parameters all;
  fill(all, {7, 1000});
  const std::vector<float> before = all.at("p7").gradient;
  const double norm = plain_norm(all);
  EXPECT_DOUBLE_EQ(clip_gradients(all, norm / 4), norm);
  EXPECT_NEAR(gradient_norm(all), norm / 4, 1e-6 * norm);
  for (size_t i = 0; i < before.size(); ++i) EXPECT_NEAR(all.at("p7").gradient[i], before[i] / 4, 1e-6f);
}

TEST(Clip, LeavesSmallGradientsAlone) {
  Parameters all;
  fill(all, {1000});
  const std::vector<float> before = all.at("p1000").gradient;
  const double norm = gradient_norm(all);
  EXPECT_EQ(clip_gradients(all, 2 * norm), norm);
  EXPECT_EQ(all.at("p1000").gradient, before);
}

TEST(Clip, WhatIsNotFiniteStaysForTheCallerToSee) {
  for (const float bad : {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    Parameters all;
    fill(all, {100});
    all.at("p100").gradient[17] = bad;
    const float other = all.at("p100").gradient[3];
    EXPECT_FALSE(std::isfinite(clip_gradients(all, 1.0)));
    EXPECT_EQ(all.at("p100").gradient[3], other);
  }
}

TEST(Clip, LargeNumbersDoNotOverflow) {
  Parameters all;
  fill(all, {4});
  all.at("p4").gradient = {3e30f, 0.0f, 4e30f, 0.0f};
  EXPECT_NEAR(clip_gradients(all, 5.0) / 5e30, 1.0, 1e-6);
  EXPECT_NEAR(all.at("p4").gradient[2], 4.0f, 1e-5f);
}

TEST(Clip, SameBitsForAnyNumberOfThreads) {
  Parameters all;
  fill(all, {300001, 70000});
  std::vector<double> norms;
  for (const int threads : {1, 2, 3, 8}) {
    const heed::test::Threads guard(threads);
    norms.push_back(gradient_norm(all));
  }
  EXPECT_EQ(norms, std::vector<double>(4, norms[0]));
}

TEST(Clip, TheLimitMustBePositive) {
  Parameters all;
  EXPECT_THROW(clip_gradients(all, 0.0), Error);
}

}  // namespace
}  // namespace heed::optimise
