// The bounds themselves: plain float32 stays within them, and small mistakes do not.
#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/kernels/combinations.h"
#include "tests/kernels/expect.h"

namespace heed::kernels::test {
namespace {

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const Shape& shape : {Shape{.heads = 2, .queries = 9, .keys = 21, .dim = 12, .value_dim = 10},
                             Shape{.queries = 19, .keys = 63, .dim = 33, .value_dim = 16},
                             Shape{.queries = 3, .keys = 257, .dim = 64, .value_dim = 64}}) {
    all.push_back(Case(shape));
    all.push_back(Case(shape).with_tanh_sum());
  }
  for (size_t n = 0; n < all.size(); ++n) all[n].fill(n);
  return all;
}

/// The reference in double, as if a library had computed it.
struct Computed {
  Results<float> results;
  Values<float> grad;

  explicit Computed(const Case& c) {
    Results<double> r = reference_forward(c, c.x);
    results.out = convert<float>(r.out);
    grad = convert<float>(reference_backward(c, c.x, c.up));
  }
};

TEST(Tolerance, PlainFloatsStayWithinTheBounds) {
  for (const Part& score : all_scores())
    for (const Part& normaliser : all_normalisers()) {
      SCOPED_TRACE(score.name + " x " + normaliser.name);
      if (normaliser.name == "sampled") continue;
      Case c({.heads = 2, .queries = 9, .keys = 21, .dim = 12, .value_dim = 10});
      score.apply(c), normaliser.apply(c);
      ASSERT_TRUE(fill_smooth(c, 5, 1e-6));
      Expected expected(c, true);
      Results<float> plain = reference_forward(c, convert<float>(c.x));
      expected.compare_results(plain, true);
      Values<float> d_plain = reference_backward(c, convert<float>(c.x), convert<float>(c.up));
      expected.compare_gradients(d_plain);
    }
}

/// What `mistake` makes of the scaled dot product must be found: in d_v at every size, and in the smallest case in
/// every tensor. (Bounds grow with the sums, so the tests have small cases of everything.)
void expect_found(const std::function<void(Case&)>& mistake) {
  bool smallest = true;
  for (const Case& c : cases()) {
    if (!c.x.score_v.empty()) continue;
    SCOPED_TRACE(testing::Message() << "Tk " << c.shape().keys);
    Expected expected(c, true);
    Case wrong = c;
    mistake(wrong);
    const Computed computed(wrong);
    EXPECT_FALSE(expected.gradient_close("v", computed.grad.v));
    if (!std::exchange(smallest, false)) continue;
    EXPECT_FALSE(expected.result_close("out", computed.results.out));
    EXPECT_FALSE(expected.gradient_close("q", computed.grad.q));
  }
}

TEST(Tolerance, NothingWrongIsFoundWhereNothingIs) {
  for (const Case& c : cases()) {
    Expected expected(c, true);
    const Computed computed(c);
    EXPECT_TRUE(expected.result_close("out", computed.results.out));
    EXPECT_TRUE(expected.gradient_close("q", computed.grad.q));
  }
}

// exp(e) (1 + 1e-5 s) is exp(e + 1e-5 s) but for 1e-10.
TEST(Tolerance, AnExponentialThatIsOffByOneIn100000IsFound) {
  expect_found([](Case& c) {
    c.with_tensor(false, false, true, true);
    for (size_t n = 0; n < c.x.bias_tensor.size(); ++n) c.x.bias_tensor[n] = n % 3 == 0 ? 1e-5 : -1e-5;
  });
}

TEST(Tolerance, AKeyThatWasForgottenIsFound) {
  expect_found([](Case& c) { c.with_key_lengths({static_cast<int32_t>(c.shape().keys) - 1}); });
}

TEST(Tolerance, AWrongScaleIsFound) {
  expect_found([](Case& c) { c.problem.score.scale *= 1.00002f; });
}

}  // namespace
}  // namespace heed::kernels::test
