#include "heed/decode/all.h"

#include <algorithm>
#include <iterator>

#include "heed/tensor/nearest.h"

namespace heed::decode {

const std::vector<const DecoderEntry*>& all_decoders() {
#define HEED_ADDRESS(name) &name##_decoder,
  static const std::vector<const DecoderEntry*> entries = {HEED_DECODERS(HEED_ADDRESS)};
#undef HEED_ADDRESS
  return entries;
}

std::vector<const DecoderEntry*> step_decoders() {
  std::vector<const DecoderEntry*> some;
  std::copy_if(all_decoders().begin(), all_decoders().end(), std::back_inserter(some),
               [](const DecoderEntry* entry) { return entry->make != nullptr; });
  return some;
}

const DecoderEntry& find_decoder(std::string_view name) { return find_by_name(all_decoders(), name, "decoder"); }

}  // namespace heed::decode
