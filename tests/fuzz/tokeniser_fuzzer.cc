// The kind, a vocabulary, a zero byte and a text: each may be refused with a reason. Where every token of the text is
// known, the text made of them has the same tokens.
#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "heed/text/tokeniser.h"
#include "heed/text/tokens.h"
#include "tests/fuzz/require.h"

namespace heed::test {
namespace {

void check_tokeniser(std::string_view bytes) {
  constexpr std::array<std::string_view, 6> kKinds = {"characters", "letters",  "words",
                                                      "scored_bpe", "byte_bpe", "wordpiece"};
  if (bytes.empty()) return;
  const std::string_view kind = kKinds[static_cast<uint8_t>(bytes[0]) % kKinds.size()];
  const size_t end = std::min(bytes.find('\0', 1), bytes.size());
  const std::string_view text = bytes.substr(std::min(end + 1, bytes.size()));
  bool accepted = false;
  try {
    const auto tokeniser = text::Tokeniser::parse(kind, bytes.substr(1, end - 1), "fuzz");
    const std::vector<int32_t> ids = tokeniser->encode(text);
    accepted = true;
    const std::string shown = tokeniser->decode(ids);
    if (std::find(ids.begin(), ids.end(), text::kUnknown) != ids.end()) return;
    const bool is_table =
        !kind.ends_with("_bpe") && kind != "wordpiece";  // joined pieces may come back as other pieces
    if (is_table) require(tokeniser->encode(shown) == ids, "other tokens after decoding and encoding");
    if (kind == "characters") require(shown == text, "characters come back as another text");
  } catch (const Error& error) {
    require_refusal(error, accepted);
  }
}

}  // namespace
}  // namespace heed::test

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  heed::test::check_tokeniser({reinterpret_cast<const char*>(data), size});
  return 0;
}
