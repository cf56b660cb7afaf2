// Library against reference, on every instruction set of the machine.
#pragma once

#include <functional>
#include <string>

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

/// The truth in double, and the plain formula in float.
struct Expected {
  Results<double> truth;
  Results<float> plain;
  Values<double> d_truth;
  Values<float> d_plain;

  Expected(const Case& c, bool gradients) {
    const Values<float> x = convert<float>(c.x);
    truth = reference_forward(c, c.x);
    plain = reference_forward(c, x);
    if (!gradients) return;
    d_truth = reference_backward(c, c.x, c.up);
    d_plain = reference_backward(c, x, convert<float>(c.up));
  }
};

inline void expect_results(Results<float>& got, Expected& expected, bool weights) {
  const Named<float> g = got.named(), plain = expected.plain.named();
  const Named<double> truth = expected.truth.named();
  for (size_t n = 0; n < g.size(); ++n) {
    if (g[n].first == "weights" && !weights) continue;
    EXPECT_TRUE(close(g[n].first, *g[n].second, *truth[n].second, *plain[n].second));
  }
  EXPECT_EQ(got.choice, expected.truth.choice);
}

inline void expect_gradients(Values<float>& got, Expected& expected) {
  const Named<float> g = got.named(), plain = expected.d_plain.named();
  const Named<double> truth = expected.d_truth.named();
  for (size_t n = 0; n < g.size(); ++n)
    EXPECT_TRUE(close("d_" + g[n].first, *g[n].second, *truth[n].second, *plain[n].second));
}

/// What to compare.
struct Compare {
  bool gradients = true;
  bool weights = false;
  Layout layout = {};
};

/// The whole check of one case. A sampled choice is taken over from the library, once per instruction set.
inline void expect_like_reference(Case c, const Compare& what = {}) {
  std::vector<Expected> kept;  // computed once, unless the choice is the library's
  on_every_isa([&] {
    Library library(c, what.layout);
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
    if (what.weights) {
      const Status weights = library.weights();
      ASSERT_TRUE(weights.ok()) << weights.message();
    }
    expect_results(library.results, kept[0], what.weights);
    if (!what.gradients) return;
    const Status backward = library.backward();
    ASSERT_TRUE(backward.ok()) << backward.message();
    expect_gradients(library.grad, kept[0]);
    EXPECT_TRUE(library.gaps_untouched);
  });
}

}  // namespace heed::kernels::test
