// The mean of the weights of several checkpoints of one model (Vaswani et al. 2017, section 6.1, take the last ones).
#pragma once

#include <span>

#include "heed/checkpoint/trained_model.h"

namespace heed::trained {

/// Sums in double. Throws if they are not of the same model: other options, vocabularies, names or shapes. Of its
/// training the mean knows `step` (of the newest), `averaged` (how many) and the recipe of the first.
TrainedModel average(std::span<const file::Checkpoint> checkpoints);

}  // namespace heed::trained
