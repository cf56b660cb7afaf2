// The weights of a trained model as the beginning of another training.
#pragma once

#include "heed/trained/trained_model.h"

namespace heed::trained {

/// Copies the weights of `from` into `made`, a model of the same kind whose vocabularies hold those of `from` and
/// perhaps more tokens after them. What belongs to the new tokens stays as it was drawn. Throws Error where the two do
/// not fit.
void start_from(const TrainedModel& from, TrainedModel& made);

}  // namespace heed::trained
