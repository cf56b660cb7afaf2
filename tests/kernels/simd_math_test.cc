// The accuracy that simd/math-inl.h states, on every instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tests/kernels/simd_math_test.cc"
#include "hwy/foreach_target.h"  // compiles this file once per instruction set
#include "hwy/highway.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "heed/kernels/simd/math-inl.h"
#include "heed/kernels/simd/sum-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

enum class Function { exp, tanh, reciprocal, normal_cdf };

/// y = f(x), element by element; `count` is a multiple of every vector's lanes.
void Apply(int function, const float* x, float* y, size_t count) {
  const F32 d;
  for (size_t i = 0; i < count; i += kLanes) {
    const V32 v = hn::LoadU(d, x + i);
    V32 r = v;
    switch (static_cast<Function>(function)) {
      case Function::exp:
        r = Exp(v);
        break;
      case Function::tanh:
        r = Tanh(v);
        break;
      case Function::reciprocal:
        r = Reciprocal(v);
        break;
      case Function::normal_cdf:
        r = NormalCdf(v);
        break;
    }
    hn::StoreU(r, d, y + i);
  }
}

/// sums[i] = the sum of 16 floats of row i, one vector at a time where a vector is shorter; 8 rows of a vector each.
void Sums(const float* x, float* sums, size_t* lanes) {
  const F32 d;
  V32 v[8];
  for (int i = 0; i < 8; ++i) v[i] = hn::LoadU(d, x + 16 * i);
  SumLanes(v, sums);
  *lanes = kLanes;
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <gtest/gtest.h>

#include "heed/kernels/isa.h"

namespace heed::kernels {
HWY_EXPORT(Apply);
HWY_EXPORT(Sums);

namespace {

using HWY_NAMESPACE::Function;

std::vector<float> mapped(Function function, const std::vector<float>& x) {
  std::vector<float> y(x.size());
  HWY_DYNAMIC_DISPATCH(Apply)(static_cast<int>(function), x.data(), y.data(), x.size());
  return y;
}

/// 2^16 points from low to high.
std::vector<float> points(double low, double high) {
  std::vector<float> x(1 << 16);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = static_cast<float>(low + (high - low) * static_cast<double>(i) / static_cast<double>(x.size() - 1));
  return x;
}

double ulp(double exact) {
  const float near = std::abs(static_cast<float>(exact));
  return static_cast<double>(std::nextafter(near, std::numeric_limits<float>::infinity())) - near;
}

template <class F>
double worst_ulps(Function function, const std::vector<float>& x, F exact) {
  const std::vector<float> y = mapped(function, x);
  double worst = 0.0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double truth = exact(static_cast<double>(x[i]));
    worst = std::max(worst, std::abs(y[i] - truth) / ulp(truth));
  }
  return worst;
}

class SimdMath : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { ASSERT_TRUE(use_isa(GetParam()).ok()); }
  void TearDown() override { use_isa(""); }
};

TEST_P(SimdMath, ExpWithinTwoUlp) {
  const auto exact = [](double x) { return std::exp(x); };
  EXPECT_LE(worst_ulps(Function::exp, points(-87.3, 88.3), exact), 2.0);
  EXPECT_LE(worst_ulps(Function::exp, points(-1.0, 1.0), exact), 2.0);
}

TEST_P(SimdMath, ExpAtTheEdges) {
  const float infinity = std::numeric_limits<float>::infinity();
  std::vector<float> x(16, 0.0f);
  x[1] = -infinity, x[2] = -88.0f, x[3] = std::nanf("");
  const std::vector<float> y = mapped(Function::exp, x);
  EXPECT_EQ(y[0], 1.0f);
  EXPECT_EQ(y[1], 0.0f);
  EXPECT_EQ(y[2], 0.0f);
  EXPECT_TRUE(std::isnan(y[3]));
}

TEST_P(SimdMath, TanhWithinFourUlp) {
  const auto exact = [](double x) { return std::tanh(x); };
  EXPECT_LE(worst_ulps(Function::tanh, points(-12.0, 12.0), exact), 4.0);
  EXPECT_LE(worst_ulps(Function::tanh, points(-0.7, 0.7), exact), 4.0);
  EXPECT_LE(worst_ulps(Function::tanh, points(-1e-20, 1e-20), exact), 4.0);
  EXPECT_EQ(mapped(Function::tanh, std::vector<float>(16, 1e4f))[0], 1.0f);
  EXPECT_EQ(mapped(Function::tanh, std::vector<float>(16, -1e30f))[0], -1.0f);
}

TEST_P(SimdMath, ReciprocalIsRoundedOnce) {
  for (const auto& [low, high] : {std::pair{1.0, 4.0}, {1e30, 8e37}}) {
    const std::vector<float> x = points(low, high), y = mapped(Function::reciprocal, x);
    for (size_t i = 0; i < x.size(); ++i) ASSERT_EQ(y[i], 1.0f / x[i]) << x[i];
  }
}

TEST_P(SimdMath, NormalCdfWithinTwoTenMillionths) {
  const std::vector<float> x = points(-9.0, 9.0), y = mapped(Function::normal_cdf, x);
  for (size_t i = 0; i < x.size(); ++i)
    ASSERT_NEAR(y[i], 0.5 * std::erfc(-static_cast<double>(x[i]) / std::sqrt(2.0)), 2e-7) << x[i];
}

TEST_P(SimdMath, LanesAreSummedInOrder) {
  std::vector<float> x(8 * 16);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * i % 97);
  float sums[8];
  size_t lanes = 0;
  HWY_DYNAMIC_DISPATCH(Sums)(x.data(), sums, &lanes);
  for (size_t i = 0; i < 8; ++i) {
    float expected = 0.0f;
    for (size_t n = 0; n < lanes; ++n) expected += x[16 * i + n];
    EXPECT_EQ(sums[i], expected) << "vector " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(EveryIsa, SimdMath, testing::ValuesIn(available_isas()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace heed::kernels
#endif
