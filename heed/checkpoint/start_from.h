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

/// What a model of another task took.
struct TakenEncoder {
  int64_t known = 0, added = 0;                   // tokens whose vectors were taken, and those that the data added
  int64_t layers = 0;                             // of the encoder
  std::vector<std::string> anew = {};             // parts that start from random numbers: "text.pool", "output"
  std::vector<std::string> left = {};             // parts of `from` that have no place
  std::string text(std::string_view name) const;  // of the model `name`, for people
};
/// Copies the vectors of the tokens and the encoder of `from` into `made`, a model of another task whose source
/// vocabulary begins with that of `from`. Throws Error if the two do not fit.
TakenEncoder start_from_encoder(const TrainedModel& from, TrainedModel& made);

}  // namespace heed::trained
