// The list of formats that a weight can be packed in. The precision of a loaded model, its choices and its help follow
// from it: a new format is one file and one line here.
#pragma once

#include <string_view>

#include "heed/base/list.h"
#include "heed/tensor/packed_weight.h"

namespace heed {

#define HEED_WEIGHT_FORMATS(X) X(float32) X(bfloat16) X(int8)

#define HEED_DECLARE(name) extern const WeightFormat name##_weights;
HEED_WEIGHT_FORMATS(HEED_DECLARE)
#undef HEED_DECLARE

const List<WeightFormat>& all_weight_formats();
/// Throws, naming the nearest.
inline const WeightFormat& find_weight_format(std::string_view precision) {
  return all_weight_formats().find(precision);
}

/// Whether a product rounds the rows too. If not, its results are those of float32 with the numbers that the weight
/// gives back.
inline bool rounds_rows(const WeightFormat& format) { return &format == &int8_weights; }

}  // namespace heed
