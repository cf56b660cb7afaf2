// The weights of a trained model as the start of another training run.
#pragma once

#include "heed/trained/trained_model.h"

namespace heed::trained {

/// Copies the weights of `from` into `made`, a model of the same kind whose vocabularies begin with those of `from` and
/// may have more tokens after them. Weights of new tokens keep their random values. Throws Error if the two do not fit.
void start_from(const TrainedModel& from, TrainedModel& made);

}  // namespace heed::trained
