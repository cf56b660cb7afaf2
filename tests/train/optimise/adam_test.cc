// Adam and AdamW against the formula in double and against PyTorch (tests/golden/make_layers.py).
#include "heed/train/optimise/adam.h"

#include <cmath>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"

namespace heed::optimise {
namespace {

using Json = nlohmann::json;

void give_gradient(Parameter& p, std::vector<float> gradient) {
  p.gradient = std::move(gradient);
  p.has_gradient = true;
}

TEST(Adam, GoldenValuesOfPyTorch) {
  const Json golden = Json::parse(std::ifstream(HEED_TEST_DATA "/../golden/layers.json")).at("adam");
  ASSERT_GT(golden.size(), 2u);
  for (const Json& json : golden) {
    Parameters all;
    Parameter* weight = &all.make("weight", {2, 3}, Initialiser::constant(0.0f));
    Parameter* bias = &all.make("bias", {4}, Initialiser::constant(0.0f));
    weight->value = json.at("weight").get<std::vector<float>>();
    bias->value = json.at("bias").get<std::vector<float>>();
    const Json& options = json.at("options");
    AdamOptions ours;
    if (options.contains("betas")) ours.beta1 = options["betas"][0], ours.beta2 = options["betas"][1];
    ours.epsilon = options.value("eps", ours.epsilon);
    ours.decay = options.value("weight_decay", 0.0f);
    ours.decoupled = json.at("kind") == "adamw";
    ours.decay_vectors = true;
    Adam adam(all, ours);
    for (const Json& step : json.at("steps")) {
      give_gradient(*weight, step.at("d_weight").get<std::vector<float>>());
      if (!step.at("d_bias").is_null()) give_gradient(*bias, step.at("d_bias").get<std::vector<float>>());
      adam.step(options.at("lr").get<float>());
      for (const Parameter* p : {weight, bias}) {
        const auto expected = step.at(p->name).get<std::vector<double>>();
        ASSERT_EQ(p->value.size(), expected.size());
        for (size_t i = 0; i < expected.size(); ++i)
          EXPECT_NEAR(p->value[i], expected[i], 1e-6) << json.at("kind") << " " << p->name << "[" << i << "]";
      }
    }
  }
}

class AdamSizes : public testing::TestWithParam<int64_t> {};

TEST_P(AdamSizes, FormulaInDouble) {
  const int64_t n = GetParam();
  const AdamOptions options = {.beta1 = 0.75f, .beta2 = 0.9375f, .epsilon = 1e-3f, .decay = 0.125f};
  Parameters all(3);
  Parameter& p = all.make("weight", {1, n}, Initialiser::normal(1.0f));
  std::vector<double> w(p.value.begin(), p.value.end()), m(w.size()), v(w.size());
  Adam adam(all, options);
  for (int t = 1; t <= 4; ++t) {
    std::vector<float> gradient(p.value.size());
    Initialiser::normal(0.5f).fill(gradient, 1, n, static_cast<uint64_t>(t));
    const double rate = 0.25 / t;
    for (size_t i = 0; i < w.size(); ++i) {
      const double g = gradient[i];
      m[i] = 0.75 * m[i] + 0.25 * g;
      v[i] = 0.9375 * v[i] + 0.0625 * g * g;
      const double m_hat = m[i] / (1.0 - std::pow(0.75, t)), v_hat = v[i] / (1.0 - std::pow(0.9375, t));
      w[i] -= rate * (m_hat / (std::sqrt(v_hat) + 1e-3) + 0.125 * w[i]);
    }
    give_gradient(p, gradient);
    adam.step(static_cast<float>(rate));
    for (size_t i = 0; i < w.size(); ++i) ASSERT_NEAR(p.value[i], w[i], 2e-6) << "step " << t << ", " << i;
  }
}
INSTANTIATE_TEST_SUITE_P(Adam, AdamSizes, testing::Values(1, 7, 63, 65, 257, 70001));

TEST(Adam, UsesGradientsUpAndSkipsWhatHasNone) {
  Parameters all(1);
  Parameter& with = all.make("with", {3}, Initialiser::normal(1.0f));
  Parameter& without = all.make("without", {3}, Initialiser::normal(1.0f));
  Parameter& frozen = all.make("frozen", {3}, Initialiser::normal(1.0f));
  frozen.trainable = false;
  const std::vector<float> before = without.value, before_frozen = frozen.value;
  give_gradient(with, {1.0f, -1.0f, 0.0f});
  without.gradient = {1.0f, 1.0f, 1.0f};  // left over from an earlier step: has_gradient is false
  give_gradient(frozen, {1.0f, 1.0f, 1.0f});
  const std::vector<float> start = with.value;
  Adam adam(all);
  adam.step(0.5f);
  // The first step is the rate itself, in the direction of the sign.
  EXPECT_NEAR(with.value[0], start[0] - 0.5f, 1e-6f);
  EXPECT_NEAR(with.value[1], start[1] + 0.5f, 1e-6f);
  EXPECT_EQ(with.value[2], start[2]);
  EXPECT_EQ(without.value, before);
  EXPECT_EQ(frozen.value, before_frozen);
  EXPECT_FALSE(with.has_gradient);
  const std::vector<float> after = with.value;
  adam.step(0.5f);
  EXPECT_EQ(with.value, after) << "a gradient must not be used twice";
}

TEST(Adam, VectorsDoNotDecayUnlessAsked) {
  for (const bool decoupled : {true, false})
    for (const bool asked : {true, false}) {
      Parameters all;
      Parameter& weight = all.make("weight", {1, 1}, Initialiser::constant(1.0f));
      Parameter& bias = all.make("bias", {1}, Initialiser::constant(1.0f));
      give_gradient(weight, {0.0f});
      give_gradient(bias, {0.0f});
      Adam(all, {.decay = 0.5f, .decoupled = decoupled, .decay_vectors = asked}).step(0.25f);
      EXPECT_NEAR(weight.value[0], decoupled ? 0.875f : 0.75f, 1e-6f);
      EXPECT_NEAR(bias.value[0], asked ? weight.value[0] : 1.0f, 1e-6f);
    }
}

TEST(Adam, RefusesOptionsThatCannotBe) {
  Parameters all;
  EXPECT_THROW(Adam(all, {.beta1 = 1.0f}), Error);
  EXPECT_THROW(Adam(all, {.beta2 = -0.1f}), Error);
  EXPECT_THROW(Adam(all, {.epsilon = 0.0f}), Error);
  EXPECT_THROW(Adam(all, {.decay = -1.0f}), Error);
}

}  // namespace
}  // namespace heed::optimise
