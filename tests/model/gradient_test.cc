// The gradients of whole models: for every parameter, the slope of the loss along a direction of its own.
#include "tests/model/slopes.h"
#include "tests/model/ways.h"

namespace heed::model::test {
namespace {

/// The sum of all log-probabilities, in double.
double loss_of(const Made& made, const Batch& batch) {
  Tape tape({.recording = false, .training = true});
  return made.model.loss(tape, batch, {}).negative_log_likelihood;
}

class Gradients : public testing::TestWithParam<Way> {};

TEST_P(Gradients, AreTheSlopesOfTheLoss) {
  Made made(GetParam().options());
  const Batch batch(ragged());
  Tape tape;
  tape.backward(made.model.loss(tape, batch, {}).loss);
  expect_slopes(made.parameters, [&] { return loss_of(made, batch); });
}

/// Smooth ones: no kinks of relu and sparsemax, no costs beside.
std::vector<Way> smooth() {
  std::vector<Way> some;
  for (const Way& way : ways()) {
    const Options o = way.options();
    const bool kinks = o.attention.normalise != "softmax" || o.attention.region.find("local_p") != std::string::npos ||
                       o.attention.region.find("local_h") != std::string::npos ||
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
