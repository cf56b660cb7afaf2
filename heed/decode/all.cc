#include "heed/decode/all.h"

#include "heed/tensor/nearest.h"

namespace heed::decode {

const std::vector<const DecoderEntry*>& all_decoders() {
#define HEED_ADDRESS(name) &name##_decoder,
  static const std::vector<const DecoderEntry*> entries = {HEED_DECODERS(HEED_ADDRESS)};
#undef HEED_ADDRESS
  return entries;
}

const DecoderEntry& find_decoder(std::string_view name) { return find_by_name(all_decoders(), name, "decoder"); }

}  // namespace heed::decode
