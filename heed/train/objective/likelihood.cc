// G1 teacher forcing: - log p of the right outputs, token by token, given the right tokens before each.
#include <utility>

#include "heed/train/objective/all.h"

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

}  // namespace

std::unique_ptr<Objective> likelihood(const model::Model& model, float label_smoothing) {
  return std::make_unique<Likelihood>(model, label_smoothing);
}

const Entry likelihood_entry = {
    .name = "likelihood",
    .meaning = "teacher forcing: the likelihood of the right outputs",
    .keys = "",
    .needs_pairs = false,
    .needs_trained = false,
    .refuses = nullptr,
    .make = [](const ObjectiveInputs& s) { return likelihood(s.model, s.label_smoothing); },
};

}  // namespace heed::objective
