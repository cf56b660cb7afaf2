#include "heed/model/encode/all.h"

namespace heed::encode {

const List<EncoderEntry>& all_encoders() {
#define HEED_ADDRESS(name) &name##_encoder,
  static const List<EncoderEntry> list("encoder", {HEED_ENCODERS(HEED_ADDRESS)});
#undef HEED_ADDRESS
  return list;
}

}  // namespace heed::encode
