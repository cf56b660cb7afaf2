#include "heed/train/optimise/gradient_sum.h"

#include <cmath>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "heed/base/error.h"
#include "heed/kernels/splitmix64.h"

namespace heed::optimise {
namespace {

using Gradient = std::optional<std::vector<float>>;  // nothing: the batch does not use the parameter

/// Numbers of very different size, so that another order gives other bits.
std::vector<float> drawn_gradient(uint64_t seed, size_t size) {
  std::vector<float> values(size);
  for (size_t i = 0; i < size; ++i) {
    const uint64_t bits = kernels::splitmix64(seed * 1'000'003 + i);
    const auto mantissa = static_cast<float>(static_cast<int64_t>(bits >> 40)) - 8'388'608.0f;
    values[i] = std::ldexp(mantissa, static_cast<int>(bits % 20) - 30);
  }
  return values;
}

/// The tree of the header, written down plainly.
Gradient plain_sum(std::span<const Gradient> gradients) {
  if (gradients.size() == 1) return gradients[0];
  size_t left = 1;
  while (2 * left < gradients.size()) left *= 2;
  const Gradient a = plain_sum(gradients.first(left)), b = plain_sum(gradients.subspan(left));
  if (!a || !b) return a ? a : b;
  Gradient sum = a;
  for (size_t i = 0; i < sum->size(); ++i) (*sum)[i] = (*a)[i] + (*b)[i];
  return sum;
}

void set_gradient(Parameter& p, const Gradient& gradient) {
  ASSERT_FALSE(p.has_gradient) << "a batch starts from nothing";
  p.has_gradient = gradient.has_value();
  p.gradient.resize(p.value.size());  // as a tape does
  std::fill(p.gradient.begin(), p.gradient.end(), std::nanf(""));
  if (gradient) std::copy(gradient->begin(), gradient->end(), p.gradient.begin());
}

Gradient gradient_of(const Parameter& p) { return p.has_gradient ? Gradient(p.gradient) : Gradient(); }

class GradientSumTest : public testing::Test {
 protected:
  /// Of one parameter.
  Gradient sum(std::span<const Gradient> gradients) {
    Parameters all;
    Parameter& p = all.make("p", {kSize}, Initialiser::constant(0.0f));
    GradientSum sum(all);
    sum.begin(std::ssize(gradients));
    for (const Gradient& each : gradients) {
      set_gradient(p, each);
      sum.end_batch();
    }
    return gradient_of(p);
  }
  static std::vector<Gradient> batches(int64_t count) {
    std::vector<Gradient> all;
    for (int64_t i = 0; i < count; ++i) all.emplace_back(drawn_gradient(static_cast<uint64_t>(i), kSize));
    return all;
  }
  static constexpr int64_t kSize = 37;
};

TEST_F(GradientSumTest, IsTheTreeToTheBit) {
  int64_t not_chains = 0;
  for (int64_t count = 1; count <= 40; ++count) {
    const std::vector<Gradient> all = batches(count);
    EXPECT_EQ(sum(all), plain_sum(all)) << count;
    std::vector<float> chain = *all[0];
    for (size_t b = 1; b < all.size(); ++b)
      for (size_t i = 0; i < chain.size(); ++i) chain[i] += (*all[b])[i];
    not_chains += Gradient(chain) != plain_sum(all);
  }
  EXPECT_GT(not_chains, 30) << "these numbers could not tell";
}

TEST_F(GradientSumTest, LargeParametersAreTheSame) {  // those that several threads add
  Parameters all;
  Parameter& p = all.make("p", {300, 400}, Initialiser::constant(0.0f));
  std::vector<Gradient> gradients;
  for (uint64_t i = 0; i < 7; ++i) gradients.emplace_back(drawn_gradient(i, 120'000));
  GradientSum sum(all);
  sum.begin(7);
  for (const Gradient& each : gradients) {
    set_gradient(p, each);
    sum.end_batch();
  }
  EXPECT_EQ(gradient_of(p), plain_sum(gradients));
}

/// Whoever computes which: batches that are cut at multiples of a power of 2 and added apart give the same bits.
TEST_F(GradientSumTest, BlocksAddUpToTheSame) {
  for (int64_t count = 1; count <= 40; ++count)
    for (const int64_t block : {1, 2, 4, 8, 16}) {
      const std::vector<Gradient> all = batches(count);
      std::vector<Gradient> sums;
      for (int64_t first = 0; first < count; first += block)
        sums.push_back(sum(
            std::span(all).subspan(static_cast<size_t>(first), static_cast<size_t>(std::min(block, count - first)))));
      EXPECT_EQ(sum(sums), sum(all)) << count << " in blocks of " << block;
    }
}

TEST_F(GradientSumTest, WhatABatchDoesNotUseIsLeftOut) {
  for (int64_t count = 1; count <= 12; ++count)
    for (int64_t missing = 0; missing < 1 << std::min<int64_t>(count, 8); ++missing) {
      std::vector<Gradient> all = batches(count);
      for (int64_t i = 0; i < count; ++i)
        if (missing >> i & 1) all[static_cast<size_t>(i)].reset();
      EXPECT_EQ(sum(all), plain_sum(all)) << count << " without " << missing;
    }
}

TEST_F(GradientSumTest, ParametersMayBeAddedBeforeTheBatchEnds) {
  Parameters all;
  Parameter &a = all.make("a", {kSize}, Initialiser::constant(0.0f)),
            &b = all.make("b", {kSize}, Initialiser::constant(0.0f));
  const std::vector<Gradient> of_a = batches(6), of_b(of_a.rbegin(), of_a.rend());
  GradientSum sum(all);
  for (int update = 0; update < 2; ++update) {
    sum.begin(6);
    for (size_t i = 0; i < 6; ++i) {
      set_gradient(a, of_a[i]);
      set_gradient(b, of_b[i]);
      if (i % 3 != 1) sum.add(i % 2 == 0 ? a : b);
      if (i % 3 == 2) sum.add(i % 2 == 0 ? b : a);
      sum.end_batch();
    }
    EXPECT_EQ(gradient_of(a), plain_sum(of_a));
    EXPECT_EQ(gradient_of(b), plain_sum(of_b));
  }
  sum.begin(2);
  set_gradient(a, of_a[0]);
  sum.add(a);
  EXPECT_THROW(sum.add(a), Error);
}

TEST_F(GradientSumTest, AnUpdateThatEndedEarlyLeavesNothing) {
  Parameters all;
  Parameter& p = all.make("p", {kSize}, Initialiser::constant(0.0f));
  GradientSum sum(all);
  const std::vector<Gradient> gradients = batches(7);
  for (const size_t done : {size_t{1}, size_t{3}, size_t{6}, size_t{7}}) {
    sum.begin(7);
    for (size_t i = 0; i < done; ++i) {
      set_gradient(p, gradients[i]);
      sum.end_batch();
    }
    if (done < 7) set_gradient(p, gradients[done]);
  }
  EXPECT_EQ(gradient_of(p), plain_sum(gradients));
}

TEST_F(GradientSumTest, MemoryGrowsWithTheLogarithm) {
  for (const int64_t count : {1, 2, 3, 4, 5, 7, 8, 9, 31, 32, 33, 1000}) {
    Parameters all;
    Parameter& p = all.make("p", {kSize}, Initialiser::constant(0.0f));
    GradientSum sum(all);
    std::set<const float*> buffers;
    for (int update = 0; update < 3; ++update) {
      sum.begin(count);
      for (int64_t i = 0; i < count; ++i) {
        set_gradient(p, drawn_gradient(static_cast<uint64_t>(i), kSize));
        buffers.insert(p.gradient.data());
        sum.end_batch();
      }
    }
    EXPECT_LE(std::ssize(buffers), gradients_at_once(count)) << count;
    EXPECT_LE(static_cast<double>(gradients_at_once(count)), std::log2(static_cast<double>(count)) + 1.0) << count;
  }
  EXPECT_EQ(gradients_at_once(1), 1);
  EXPECT_EQ(gradients_at_once(8), 4);
}

}  // namespace
}  // namespace heed::optimise
