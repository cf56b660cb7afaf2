#include "heed/tensor/format/all.h"

namespace heed {

const List<WeightFormat>& all_weight_formats() {
#define HEED_ADDRESS(name) &name##_weights,
  static const List<WeightFormat> list("precision", {HEED_WEIGHT_FORMATS(HEED_ADDRESS)});
#undef HEED_ADDRESS
  return list;
}

}  // namespace heed
