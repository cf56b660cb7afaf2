// The likelihood of given outputs under a model.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "heed/data/dataset.h"
#include "heed/model/model.h"
#include "heed/model/search/search.h"

namespace heed::search {

struct Scored {
  double log_probability = 0.0;  // of all predictions of an example: a target and its END, given the source
  std::vector<float> token_log_probabilities;  // of each; that of END last
};

/// The examples of a batch, by teacher forcing: all steps at once, and never the logits of all of them. The tape must
/// not be recording, and is reset. `left`: for what the batch leaves for the next one, if not null; may be what the
/// batch goes on from itself.
std::vector<Scored> score(const model::Model& model, Tape& tape, const data::Batch& batch,
                          data::RecurrentCarry* left = nullptr);

/// The same for any generator, step by step: `targets` [sources], tokens without START, and with END where it counts.
/// An empty source gives nothing.
std::vector<Scored> score_by_steps(const model::Generator& generator, Tape& tape, const Input& input,
                                   std::span<const std::vector<int32_t>> targets, int32_t start);

/// The losses of all examples in the order of a validation, in batches of `max_tokens`; each goes on from what the last
/// one left. The tape as above.
void each_loss(const model::Model& model, Tape& tape, const data::Dataset& examples, int64_t max_tokens,
               const std::function<void(const data::Batch&, const OutputLoss&)>& visit);

}  // namespace heed::search
