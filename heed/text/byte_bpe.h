// BPE over bytes, as GPT-2 has it: nothing is unknown, and a text comes back byte for byte.  Radford et al. 2019
// Tokens are spelled in an alphabet of 256 signs that can all be seen, one for each byte: a blank is Ġ, a newline Ċ.
//
// The file:
//
//   byte_bpe gpt2 special=1 prefix=0 whole=0 nfc=0
//   <unk>  <s>  </s>  and the tokens, one on each line (escape.h); the first `special` ones are never cut from a text
//   an empty line
//   the pairs that are joined, in their order: two tokens with a blank between
//
// gpt2, llama3 or qwen2: how a text is cut into words before (split_words.h). prefix: a blank before a text that begins
// with none. whole: a word that is a token is never joined from its bytes. nfc: the text is composed first.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heed/text/tokeniser.h"

namespace heed::text {

inline const std::string kByteBpe = "byte_bpe";

struct ByteBpeParts {
  std::string words = "gpt2";
  bool prefix = false, whole = false, nfc = false;
  std::vector<std::string> special;  // the tokens from kSpecials on that no text is cut into, then the others
  std::vector<std::string> tokens;
  std::vector<std::pair<std::string, std::string>> merges;
};

/// What the file of such a tokeniser holds.
std::string byte_bpe_contents(const ByteBpeParts& parts);

std::shared_ptr<const Tokeniser> parse_byte_bpe(std::string_view contents, std::string_view name);

}  // namespace heed::text
