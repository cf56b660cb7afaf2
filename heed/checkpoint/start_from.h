// The weights of a trained model as the start of another training run.
#pragma once

#include <string>
#include <vector>

#include "heed/checkpoint/trained_model.h"

namespace heed::trained {

/// Copies the weights of `from` into `made`, a model of the same kind whose vocabularies begin with those of `from` and
/// may have more tokens after them. Weights of new tokens keep their random values. A model with another decoder takes
/// what both have; the names of the weights that `from` lacks are returned. Throws Error if the two do not fit.
std::vector<std::string> start_from(const TrainedModel& from, TrainedModel& made);

}  // namespace heed::trained
