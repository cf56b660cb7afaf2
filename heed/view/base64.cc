#include "heed/view/base64.h"

#include <openssl/evp.h>

#include <algorithm>

#include "heed/base/interrupt.h"

namespace heed::view {

std::string base64(const std::string& bytes) {
  constexpr size_t kAtOnce = 3 << 20;  // groups of three: what OpenSSL encodes is counted in an int
  std::string text(4 * ((bytes.size() + 2) / 3) + 1, '\0');  // OpenSSL ends it with a zero
  size_t length = 0;
  for (size_t at = 0; at < bytes.size(); at += kAtOnce) {
    stop_if_interrupted();
    const size_t count = std::min(kAtOnce, bytes.size() - at);
    length += static_cast<size_t>(EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data() + length),
                                                  reinterpret_cast<const unsigned char*>(bytes.data() + at),
                                                  static_cast<int>(count)));
  }
  text.resize(length);
  return text;
}

}  // namespace heed::view
