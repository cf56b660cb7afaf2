#include "heed/tensor/format/all.h"

#include "heed/tensor/nearest.h"

namespace heed {

const std::vector<const WeightFormat*>& all_weight_formats() {
#define HEED_ADDRESS(name) &name##_weights,
  static const std::vector<const WeightFormat*> formats = {HEED_WEIGHT_FORMATS(HEED_ADDRESS)};
#undef HEED_ADDRESS
  return formats;
}

const WeightFormat& find_weight_format(std::string_view precision) {
  return find_by_name(all_weight_formats(), precision, "precision");
}

}  // namespace heed
