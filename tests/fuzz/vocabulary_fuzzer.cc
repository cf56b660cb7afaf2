// A file of tokens: refused with a reason, or the very bytes that it would be saved as.
#include <cstdint>
#include <string_view>

#include "heed/text/tokens.h"
#include "heed/text/vocabulary.h"
#include "tests/fuzz/require.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace heed;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  bool accepted = false;
  try {
    const text::Vocabulary vocabulary = text::Vocabulary::parse(bytes, "fuzz");
    accepted = true;
    test::require(vocabulary.contents() == bytes, "other bytes after reading and writing");
    for (int32_t id = text::kSpecials; id < vocabulary.size(); ++id)
      test::require(vocabulary.id(vocabulary.token(id)) == id, "a token has another id");
  } catch (const Error& error) {
    test::require_refusal(error, accepted);
  }
  return 0;
}
