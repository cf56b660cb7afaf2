#include "heed/model/decode/text_decoder.h"

namespace heed::decode {

const List<TextDecoderEntry>& all_text_decoders() {
#define HEED_ADDRESS(name) &name##_text_decoder,
  static const List<TextDecoderEntry> list("kind of language model", {HEED_TEXT_DECODERS(HEED_ADDRESS)});
#undef HEED_ADDRESS
  return list;
}

}  // namespace heed::decode
