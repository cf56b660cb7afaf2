#include "heed/decode/text_decoder.h"

#include "heed/tensor/nearest.h"

namespace heed::decode {

const std::vector<const TextDecoderEntry*>& all_text_decoders() {
#define HEED_ADDRESS(name) &name##_text_decoder,
  static const std::vector<const TextDecoderEntry*> entries = {HEED_TEXT_DECODERS(HEED_ADDRESS)};
#undef HEED_ADDRESS
  return entries;
}

const TextDecoderEntry& find_text_decoder(std::string_view name) {
  return find_by_name(all_text_decoders(), name, "kind of language model");
}

}  // namespace heed::decode
