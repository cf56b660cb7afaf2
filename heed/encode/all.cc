#include "heed/encode/all.h"

#include "heed/tensor/nearest.h"

namespace heed::encode {

const std::vector<const EncoderEntry*>& all_encoders() {
#define HEED_ADDRESS(name) &name##_encoder,
  static const std::vector<const EncoderEntry*> entries = {HEED_ENCODERS(HEED_ADDRESS)};
#undef HEED_ADDRESS
  return entries;
}

const EncoderEntry& find_encoder(std::string_view name) { return find_by_name(all_encoders(), name, "encoder"); }

}  // namespace heed::encode
