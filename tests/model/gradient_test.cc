// The gradients of whole models: for every parameter, the slope of the loss along a direction of its own.
#include "tests/model/ways.h"

namespace heed::model::test {
namespace {

/// The sum of all log-probabilities, in double.
double loss_of(const Made& made, const Batch& batch) {
  Tape tape({.recording = false, .training = true});
  return made.model.loss(tape, batch.view(), {}).negative_log_likelihood;
}

double length(const std::vector<double>& x) {
  return std::sqrt(std::inner_product(x.begin(), x.end(), x.begin(), 0.0));
}

/// Half the gradient's direction, so that there is a slope, and half any: both of length 1.
std::vector<double> direction_for(const Parameter& p, std::mt19937_64& random) {
  std::vector<double> along(p.gradient.begin(), p.gradient.end()), any(p.value.size());
  for (double& value : any) value = std::normal_distribution<double>()(random);
  const double steep = length(along), far = length(any);
  for (size_t i = 0; i < any.size(); ++i) any[i] = any[i] / far + (steep > 0.0 ? along[i] / steep : 0.0);
  return any;
}

/// (8 (f(h) - f(-h)) - (f(2h) - f(-2h))) / 12h: the error falls with h^4.
double slope(Made& made, Parameter& p, const std::vector<double>& direction, const Batch& batch) {
  constexpr double kStep = 1e-2;
  const std::vector<float> before = p.value;
  const auto at = [&](double h) {
    for (size_t i = 0; i < before.size(); ++i) p.value[i] = static_cast<float>(before[i] + h * direction[i]);
    return loss_of(made, batch);
  };
  const double found = (8.0 * (at(kStep) - at(-kStep)) - (at(2.0 * kStep) - at(-2.0 * kStep))) / (12.0 * kStep);
  p.value = before;
  return found;
}

class Gradients : public testing::TestWithParam<Way> {};

TEST_P(Gradients, AreTheSlopesOfTheLoss) {
  Made made(GetParam().options());
  const Batch batch(ragged());
  Tape tape;
  tape.backward(made.model.loss(tape, batch.view(), {}).loss);
  std::mt19937_64 random(1);
  size_t steep = 0;
  for (Parameter& p : made.parameters) {
    if (!p.has_gradient) p.gradient.assign(p.value.size(), 0.0f);  // nothing depends on it: so the slope must say
    const std::vector<double> direction = direction_for(p, random);
    const double expected = std::inner_product(direction.begin(), direction.end(), p.gradient.begin(), 0.0);
    EXPECT_NEAR(slope(made, p, direction, batch), expected, 3e-4 + 2e-3 * std::abs(expected)) << p.name;
    if (std::abs(expected) > 1e-2) ++steep;
  }
  EXPECT_GT(steep, made.parameters.size() / 2) << "too flat to tell anything";
}

/// Smooth ones: no kinks of relu and sparsemax, no costs beside.
std::vector<Way> smooth() {
  std::vector<Way> some;
  for (const Way& way : ways()) {
    const Options o = way.options();
    const bool kinks = o.attention.normalise != "softmax" || o.attention.region.find("local_p") != std::string::npos ||
                       o.attention.score.starts_with("synthesizer") || o.attention.time == "guided" ||
                       o.attention.time == "forward_only";
    if (kinks) continue;
    some.push_back(way);
    some.back().change = [change = way.change](Options& o) {
      change(o);
      if (o.activation == "relu") o.activation = "gelu";
    };
  }
  return some;
}

INSTANTIATE_TEST_SUITE_P(, Gradients, testing::ValuesIn(smooth()), name_of_way);

TEST(GradientsOf, MostWays) { EXPECT_GE(smooth().size(), 30u); }

}  // namespace
}  // namespace heed::model::test
