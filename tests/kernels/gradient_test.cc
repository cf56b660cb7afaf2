// slow: 12 s
// The analytic reference against central differences in double: closes the chain library = reference = differences.
#include <cmath>

#include <gtest/gtest.h>

#include "tests/kernels/combinations.h"
#include "tests/kernels/reference.h"

namespace heed::kernels::test {
namespace {

constexpr double kStep = 1e-6;
constexpr double kAbsolute = 1e-5;
constexpr double kRelative = 1e-3;

/// What the upstream gradients are the gradients of.
double loss(const Case& c, const Values<double>& x) {
  const Results<double> r = reference_forward(c, x);
  double sum = 0.0;
  const auto add = [&sum](const std::vector<double>& value, const std::vector<double>& gradient) {
    for (size_t n = 0; n < gradient.size(); ++n)
      if (std::isfinite(value[n])) sum += value[n] * gradient[n];  // an empty row's or column's lse: -inf, constant
  };
  add(r.out, c.up.d_out);
  add(r.lse, c.up.d_lse);
  add(r.log_prob, c.up.d_log_prob);
  add(r.entropy, c.up.d_entropy);
  add(r.guide_cost, c.up.d_guide_cost);
  add(r.column_lse, c.up.d_column_lse);
  return sum;
}

/// Compares gradients of the parts whose name `chosen` accepts with differences of the loss of `c`.
template <class Chosen>
void compare(const Case& c, Values<double>& grad, Chosen chosen) {
  Values<double> x = c.x;
  const Named<double> inputs = x.named(), gradients = grad.named();
  for (size_t n = 0; n < inputs.size(); ++n) {
    if (!chosen(inputs[n].first)) continue;
    std::vector<double>& values = *inputs[n].second;
    for (size_t e = 0; e < values.size(); ++e) {
      const double middle = values[e];
      if (!std::isfinite(middle)) continue;
      values[e] = middle + kStep;
      const double above = loss(c, x);
      values[e] = middle - kStep;
      const double below = loss(c, x);
      values[e] = middle;
      const double difference = (above - below) / (2.0 * kStep);
      ASSERT_NEAR((*gradients[n].second)[e], difference, kAbsolute + kRelative * std::abs(difference))
          << "d_" << inputs[n].first << "[" << e << "]";
    }
  }
}

void check_gradients(Case& c) {
  ASSERT_TRUE(fill_smooth(c, 1, 2e-5));
  Values<double> grad = reference_backward(c, c.x, c.up);
  if (c.problem.normalise.kind != Normaliser::argmax) {
    // A sampled choice is held where it is: what is left to differentiate is its log-probability and the entropy.
    if (c.chooses()) c.choice = reference_forward(c, c.x).choice;
    return compare(c, grad, [](const std::string&) { return true; });
  }
  // Straight-through: what the weights are multiplied with is real, what reaches the scores is softmax's.
  const auto behind = [](const std::string& name) { return name == "v" || name == "centre"; };
  compare(c, grad, behind);
  c.problem.normalise.kind = Normaliser::softmax;
  compare(c, grad, [behind](const std::string& name) { return !behind(name); });
}

constexpr Shape kGradientShape = {
    .batch = 2, .heads = 2, .kv_heads = 1, .queries = 3, .keys = 5, .dim = 3, .value_dim = 2};

class Gradient : public testing::TestWithParam<Combination> {};

TEST_P(Gradient, AnalyticEqualsDifferences) {
  Case c = combine(kGradientShape, GetParam());
  check_gradients(c);
}

INSTANTIATE_TEST_SUITE_P(All, Gradient, every_combination(), combination_name);

TEST(GradientOfParts, EveryBiasAtOnce) {
  Case c(kGradientShape);
  c.with_tensor(false, true, true, true).with_alibi().with_relative(2, true).with_custom_bias().with_sink();
  c.problem.region.align = Align::bottom_right;
  check_gradients(c);
}

TEST(GradientOfParts, BroadcastTensors) {
  for (int axes = 0; axes < 16; ++axes) {
    Case c(kGradientShape);
    c.with_tensor(axes & 1, axes & 2, axes & 4, axes & 8).with_relative(3, false);
    check_gradients(c);
  }
}

TEST(GradientOfParts, Dropout) {
  Case c(kGradientShape);
  c.problem.dropout.p = 0.25f;
  c.with_guide(0.3f).with_centre(3.1f, 1.5f);
  c.kept.resize(c.pair_count());
  Random random(5);
  for (uint8_t& kept : c.kept) kept = random.uniform() < 0.75;
  check_gradients(c);
}

TEST(GradientOfParts, RaggedOnBothSides) {
  for (const bool packed : {false, true}) {
    Case c({.heads = 2, .dim = 3, .value_dim = 2});
    c.problem.bias.packed = packed;
    c.with_ragged({3, 0, 2, 2}, {4, 3, 0, 5}).with_tanh_sum().with_tensor(!packed, true, true, true).with_documents(2);
    check_gradients(c);
  }
}

}  // namespace
}  // namespace heed::kernels::test
