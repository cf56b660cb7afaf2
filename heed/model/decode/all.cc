#include "heed/model/decode/all.h"

namespace heed::decode {

const List<DecoderEntry>& all_decoders() {
#define HEED_ADDRESS(name) &name##_decoder,
  static const List<DecoderEntry> list("decoder", {HEED_DECODERS(HEED_ADDRESS)});
#undef HEED_ADDRESS
  return list;
}

}  // namespace heed::decode
