// G1 teacher forcing: - log p of the right outputs, token by token, given the right tokens before each.
#include <utility>

#include "heed/base/error.h"
#include "heed/train/objective/all.h"
#include "heed/train/objective/noise.h"

namespace heed::objective {

PartReport learn_likelihood(const model::Model& model, Tape& tape, const data::Batch& batch, const UpdatePart& part,
                            const OutputLossOptions& options) {
  OutputLossOptions scaled = options;
  scaled.scale *= static_cast<float>(part.share);
  tape.reset(part.seed);
  model::Loss loss = model.loss(tape, batch, scaled);
  tape.backward(loss.loss);
  return {.loss = loss.loss.item(),
          .nll = loss.negative_log_likelihood * part.share,
          .accuracy = static_cast<double>(loss.correct) * part.share,
          .carried = std::move(loss.carried),
          .baseline = loss.baseline};
}

namespace {

class Likelihood final : public Objective {
 public:
  Likelihood(const model::Model& model, float label_smoothing) : model_(model), label_smoothing_(label_smoothing) {}

  PartReport run(Tape& tape, data::Batch& batch, const UpdatePart& part) override {
    return learn_likelihood(model_, tape, batch, part, {.label_smoothing = label_smoothing_});
  }
  bool has_one_backward() const override { return true; }

 private:
  const model::Model& model_;
  float label_smoothing_;
};

/// The same, where the decoder reads noisy inputs.
class NoisyLikelihood final : public Objective {
 public:
  explicit NoisyLikelihood(const ObjectiveInputs& s)
      : model_(s.model),
        options_(s.options),
        label_smoothing_(s.label_smoothing),
        readable_(readable_tokens(*s.vocabularies.target)) {
    expect(model_.generator() != nullptr,
           "train.noise_wrong, noise_dropped and noise_swapped change what a decoder reads, but this model writes all "
           "positions at once and reads none");
  }

  PartReport run(Tape& tape, data::Batch& batch, const UpdatePart& part) override {
    add_noise(batch.targets, options_, readable_, part.seed);
    return learn_likelihood(model_, tape, batch, part, {.label_smoothing = label_smoothing_});
  }
  bool has_one_backward() const override { return true; }

 private:
  const model::Model& model_;
  Options options_;
  float label_smoothing_;
  std::vector<int32_t> readable_;
};

}  // namespace

std::unique_ptr<Objective> likelihood(const model::Model& model, float label_smoothing) {
  return std::make_unique<Likelihood>(model, label_smoothing);
}

const Entry likelihood_entry = {
    .name = "likelihood",
    .meaning = "teacher forcing: the likelihood of the right outputs",
    .keys = "noise_wrong noise_dropped noise_swapped",
    .needs_writer = false,
    .needs_pairs = false,
    .needs_trained = false,
    .refuses = nullptr,
    .make = [](const ObjectiveInputs& s) -> std::unique_ptr<Objective> {
      if (has_noise(s.options)) return std::make_unique<NoisyLikelihood>(s);
      return likelihood(s.model, s.label_smoothing);
    },
};

}  // namespace heed::objective
