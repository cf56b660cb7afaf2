// Ten training steps have the losses that PyTorch has (tests/golden/make_seq2seq.py), from the same weights.
#include <fstream>
#include <nlohmann/json.hpp>

#include "heed/train/optimise/adam.h"
#include "heed/train/optimise/clip.h"
#include "tests/model/small.h"

namespace heed::model::test {
namespace {

struct GoldenBatch : data::Batch {
  explicit GoldenBatch(const nlohmann::json& b) {
    const std::vector<int32_t> source = b.at("source");
    const std::vector<int64_t> offsets = b.at("source_offsets");
    for (size_t i = 0; i + 1 < offsets.size(); ++i)
      sources.add(
          std::span(source).subspan(static_cast<size_t>(offsets[i]), static_cast<size_t>(offsets[i + 1] - offsets[i])));
    targets.in = b.at("target_in").get<std::vector<int32_t>>();
    targets.out = b.at("target_out").get<std::vector<int32_t>>();
    targets.offsets = b.at("target_offsets").get<std::vector<int64_t>>();
  }
};

Options options_of(const nlohmann::json& c) {
  const auto& o = c.at("options");
  Options options{.kind = o.at("kind"),
                  .source_vocabulary = c.at("vocabulary"),
                  .target_vocabulary = c.at("vocabulary"),
                  .width = o.at("width"),
                  .encoder_layers = o.at("encoder_layers"),
                  .decoder_layers = o.at("decoder_layers"),
                  .dropout = o.at("dropout"),
                  .tied = c.at("tied")};
  if (options.kind == "rnn") options.attention.score = "additive";
  if (options.kind == "transformer") options.attention.heads = o.at("heads");
  if (o.contains("wiring")) options.wiring = o.at("wiring");
  if (o.value("pre_norm", false)) options.norm = "pre";
  return options;
}

TEST(Golden, TenStepsHaveTheLossesOfPyTorch) {
  std::ifstream file(std::string(HEED_TEST_DATA) + "/../golden/seq2seq.json");
  ASSERT_TRUE(file.is_open());
  size_t steps = 0;
  for (const nlohmann::json& c : nlohmann::json::parse(file)) {
    const auto& o = c.at("options");
    SCOPED_TRACE(o.at("kind").get<std::string>() + o.value("wiring", ""));
    Parameters parameters;
    const Seq2Seq model(parameters, options_of(c));
    ASSERT_EQ(parameters.size(), c.at("weights").size());
    for (const auto& [name, w] : c.at("weights").items()) {
      ASSERT_EQ(parameters.at(name).shape, w.at("shape").get<std::vector<int64_t>>()) << name;
      parameters.at(name).value = w.at("values").get<std::vector<float>>();
    }
    std::vector<GoldenBatch> batches(c.at("batches").begin(), c.at("batches").end());
    optimise::Adam adam(parameters, {.beta2 = 0.98f, .epsilon = 1e-9f});
    Tape tape;
    const std::vector<double> right = c.at("losses");
    for (size_t step = 0; step < right.size(); ++step, ++steps) {
      const GoldenBatch& b = batches[step % batches.size()];
      tape.reset();
      const float share = 1.0f / static_cast<float>(b.targets.out.size());
      const OutputLoss loss = model.loss(tape, b, {.label_smoothing = o.at("label_smoothing"), .scale = share});
      // Rounding grows from step to step, as the weights part.
      EXPECT_NEAR(loss.loss.item(), right[step], 2e-6 * static_cast<double>(step + 1)) << "step " << step;
      tape.backward(loss.loss);
      optimise::clip_gradients(parameters, o.at("clip"));
      adam.step(o.at("learning_rate"));
    }
  }
  EXPECT_EQ(steps, 40u);
}

}  // namespace
}  // namespace heed::model::test
