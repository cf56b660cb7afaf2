// A model of SentencePiece: refused with a reason, or one that encodes a text and decodes every piece.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "heed/text/tokeniser.h"
#include "tests/fuzz/require.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace heed;
  try {
    const auto tokeniser = text::Tokeniser::parse("sentencepiece", {reinterpret_cast<const char*>(data), size}, "fuzz");
    std::vector<int32_t> ids = tokeniser->encode("the cat  sat \u00e4\u4e2d\uff21");
    for (int32_t id : ids) test::require(id >= 0 && id < tokeniser->size(), "an id outside of the vocabulary");
    for (int32_t id = 0; id < std::min(tokeniser->size(), 50); ++id) ids.push_back(id);
    tokeniser->decode(ids);
  } catch (const Error& error) {
    test::require_refusal(error, false);
  }
  return 0;
}
