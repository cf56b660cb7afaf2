// The likelihood of given outputs under a model.
#pragma once

#include <vector>

#include "heed/model/model.h"

namespace heed::search {

struct Scored {
  double log_probability = 0.0;  // of all predictions of an example: a target and its END, given the source
  std::vector<float> token_log_probabilities;  // of each; that of END last
};

/// The examples of a batch, by teacher forcing: all steps at once, and never the logits of all of them. The tape must
/// not be recording, and is reset.
std::vector<Scored> score(const model::Model& model, Tape& tape, const data::PackedBatch& batch);

}  // namespace heed::search
