// Library against reference, on every instruction set of the machine.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/kernels/library.h"
#include "tests/kernels/reference.h"
#include "tests/kernels/tolerance.h"

namespace heed::kernels::test {

/// Runs `body` once for each instruction set, then goes back to the best.
inline void on_every_isa(const std::function<void()>& body) {
  for (const std::string& name : available_isas()) {
    SCOPED_TRACE("HEED_ISA=" + name);
    ASSERT_TRUE(use_isa(name).ok());
    body();
    if (testing::Test::HasFatalFailure()) break;
  }
  ASSERT_TRUE(use_isa("").ok());
}

/// Bits, not numbers: NaN and -0 count as what they are.
inline testing::AssertionResult same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  if (a.size() != b.size()) return testing::AssertionFailure() << a.size() << " and " << b.size() << " elements";
  for (size_t n = 0; n < a.size(); ++n)
    if (std::memcmp(&a[n], &b[n], sizeof(float)) != 0)
      return testing::AssertionFailure() << "element " << n << ": " << a[n] << " and " << b[n];
  return testing::AssertionSuccess();
}

/// Every input moved by a few units in the last place, still exactly a float.
inline void jitter(std::vector<double>& values, Random& random) {
  for (double& value : values) value = static_cast<float>(value * (1.0 + 8.0 * kEps * (random.uniform() - 0.5)));
}

/// The truth in double, and how wrong the plain formula in float is.
class Expected {
 public:
  Results<double> truth;
  Values<double> d_truth;
  double floor = 0.0;  // added to what gradients may err by

  Expected(const Case& c, bool gradients) : c_(c), gradients_(gradients) {
    truth = reference_forward(c_, c_.x);
    double squares = 0.0;
    if (gradients_) d_truth = reference_backward(c_, c_.x, c_.up, &squares);
    bias_floor_ = kSumRoundings * kEps * std::sqrt(squares);
    results_.resize(truth.named().size(), 0.0);
    errors_.resize(d_truth.named().size(), 0.0);
    measure_plain(c_, truth, d_truth);
  }

  void compare_results(Results<float>& got, bool weights) {
    const Named<float> g = got.named();
    const Named<double> t = truth.named();
    for (size_t n = 0; n < g.size(); ++n)
      if (g[n].first != "weights" || weights) expect_close(g[n].first, *g[n].second, *t[n].second, results_[n], 0.0);
    EXPECT_EQ(got.choice, truth.choice);
  }

  /// One tensor of the results, by name.
  testing::AssertionResult result_close(const std::string& name, const std::vector<float>& got) {
    const Named<double> t = truth.named();
    size_t n = 0;
    while (t[n].first != name) ++n;
    if (!close(name, got, *t[n].second, results_[n])) measure_more();
    return close(name, got, *t[n].second, results_[n]);
  }

  void compare_gradients(Values<float>& got) {
    const Named<float> g = got.named();
    const Named<double> t = d_truth.named();
    for (size_t n = 0; n < g.size(); ++n) {
      const std::string& name = g[n].first;
      const bool bias = name == "bias_tensor" || name == "relative" || name == "sink" || name == "custom_bias";
      expect_close("d_" + name, *g[n].second, *t[n].second, errors_[n], floor + (bias ? bias_floor_ : 0.0));
    }
  }

 private:
  /// `plain` is a reference: it grows when more is measured.
  void expect_close(const std::string& name, const std::vector<float>& got, const std::vector<double>& exact,
                    const double& plain, double more) {
    if (!close(name, got, exact, plain, more)) measure_more();
    EXPECT_TRUE(close(name, got, exact, plain, more));
  }

  void measure_plain(const Case& c, Results<double>& exact, Values<double>& d_exact) {
    const Values<float> x = convert<float>(c.x);
    Results<float> plain = reference_forward(c, x);
    const Named<double> t = exact.named();
    const Named<float> p = plain.named();
    for (size_t n = 0; n < t.size(); ++n) keep_larger(results_[n], largest_error(*p[n].second, *t[n].second));
    if (!gradients_) return;
    Values<float> d_plain = reference_backward(c, x, convert<float>(c.up));
    const Named<double> d_t = d_exact.named();
    const Named<float> d_p = d_plain.named();
    for (size_t n = 0; n < d_t.size(); ++n) keep_larger(errors_[n], largest_error(*d_p[n].second, *d_t[n].second));
  }

  static void keep_larger(double& largest, double error) {
    if (error < INFINITY) largest = std::max(largest, error);
  }

  /// One case is one sample of plain's rounding errors, and for a small tensor a lucky one may be near 0. Where the
  /// library seems worse, the same problem is measured again with inputs that differ in their last bits.
  void measure_more() {
    if (measured_) return;
    measured_ = true;
    Random random(77);
    for (int sample = 0; sample < kSamples; ++sample) {
      Case moved = c_;
      for (auto& [name, values] : moved.x.named()) jitter(*values, random);
      for (auto& [name, values] : moved.up.named()) jitter(*values, random);
      Results<double> exact = reference_forward(moved, moved.x);
      Values<double> d_exact;
      if (gradients_) d_exact = reference_backward(moved, moved.x, moved.up);
      measure_plain(moved, exact, d_exact);
    }
  }

  Case c_;
  bool gradients_;
  bool measured_ = false;
  double bias_floor_ = 0.0;
  std::vector<double> results_, errors_;  // plain's largest error of each tensor
};

/// What to compare.
struct Compare {
  bool gradients = true;
  bool weights = false;
  Layout layout = {};
  double floor = 0.0;  // see Expected
  int threads = 1;     // property_test.cc shows that any number gives the same bits
};

/// The whole check of one case. A sampled choice is taken over from the library, once per instruction set.
inline void expect_like_reference(Case c, const Compare& what = {}) {
  std::vector<Expected> kept;  // computed once, unless the choice is the library's
  on_every_isa([&] {
    Library library(c, what.layout, what.threads);
    const Status forward = library.forward();
    ASSERT_TRUE(forward.ok()) << forward.message();
    if (c.problem.normalise.kind == Normaliser::sampled && c.choice != library.results.choice) {
      c.choice = library.results.choice;
      kept.clear();
      for (int64_t b = 0; b < c.shape().batch; ++b)
        for (int64_t h = 0; h < c.shape().heads; ++h)
          for (int64_t i = 0; i < c.queries(b); ++i) {
            const int32_t choice = c.choice[c.query_row(b, h, i)];
            ASSERT_GE(choice, -1);
            ASSERT_LT(choice, c.keys(b));
            ASSERT_TRUE(choice < 0 || pair_visible(c, c.x, b, h, i, choice)) << "chose a hidden key";
          }
    }
    if (kept.empty()) kept.emplace_back(c, what.gradients);
    kept[0].floor = what.floor;
    if (what.weights) {
      const Status weights = library.weights();
      ASSERT_TRUE(weights.ok()) << weights.message();
    }
    kept[0].compare_results(library.results, what.weights);
    if (!what.gradients) return;
    const Status backward = library.backward();
    ASSERT_TRUE(backward.ok()) << backward.message();
    kept[0].compare_gradients(library.grad);
    EXPECT_TRUE(library.gaps_untouched);
  });
}

}  // namespace heed::kernels::test
