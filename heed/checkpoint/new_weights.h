// The weights of a model by name, for whoever changes them from outside: Python's model.parameters.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "heed/layer/parameters.h"

namespace heed::trained {

/// New values for a parameter: row-major, in its shape.
struct NewWeights {
  std::string name;
  std::vector<int64_t> shape;
  std::span<const float> values;
};

/// Writes all of them, or none: throws if there is no such parameter, if a shape is another, or if a number is infinite
/// or NaN. A weight that stands in memory packed is packed again, in its format. Nobody may use the model meanwhile.
void write_weights(Parameters& parameters, std::span<const NewWeights> weights);

}  // namespace heed::trained
