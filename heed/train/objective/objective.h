// What an update minimises: the gradients of a batch. An objective depends on the model, the batch and the number of
// the update alone, so that a resumed training run gives the same bits.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "heed/data/batch.h"
#include "heed/model/model.h"
#include "heed/tensor/tape.h"

namespace heed::objective {

/// One batch of an update.
struct UpdatePart {
  int64_t number = 0;          // of the batch in the update
  double share = 1.0;          // 1 / predictions of all batches of the update
  double example_share = 1.0;  // 1 / examples of all of them
  int64_t updates_before = 0;
  uint64_t seed = 0;  // of everything that is drawn for this batch
};

/// What a batch adds to the report of its update.
struct PartReport {
  double loss = 0;                    // what is minimised, but for the costs of an attention where there is a reward
  double nll = 0;                     // share * negative log-likelihood of the right outputs
  double accuracy = 0;                // share * predictions that are right, under teacher forcing
  std::optional<double> reward = {};  // example_share * rewards
  data::RecurrentCarry carried = {};  // as in model::Loss
  model::BaselineChange baseline = {};
};

class Objective {
 public:
  virtual ~Objective() = default;
  /// Adds the gradients of the batch to those of the parameters, and changes nothing else of the model. The tape
  /// records and trains; it is reset. The batch may be changed.
  virtual PartReport run(Tape& tape, data::Batch& batch, const UpdatePart& part) = 0;
  /// Whether run() needs one backward only: then a gradient that the tape calls final is that of the whole batch.
  virtual bool has_one_backward() const = 0;
};

/// The likelihood of the examples, token by token: teacher forcing. `options.scale` is multiplied by the
/// share of the part; the report has the likelihood without it.
PartReport learn_likelihood(const model::Model& model, Tape& tape, const data::Batch& batch, const UpdatePart& part,
                            const OutputLossOptions& options);
std::unique_ptr<Objective> likelihood(const model::Model& model, float label_smoothing);

}  // namespace heed::objective
