// WordPiece, as BERT has it: words of the text, and of each word the longest pieces from left to right.  Wu et al. 2016
// A piece that begins no word is spelled with ## before it. A word that no pieces make up is unknown as a whole.
//
// The file:
//
//   wordpiece special=2 clean=1 lower=1 strip=1 ideographs=1 longest=100
//   <unk>  <s>  </s>  and the tokens, one on each line (escape.h); the first `special` ones are never cut from a text
//
// What is done to a text before, in this order. clean: control characters are left out, and every kind of blank becomes
// a blank. ideographs: a Chinese character is a word. strip: without accents (NFD). lower: in lower case. A word of
// more characters than `longest` is unknown. Words end at blanks; each punctuation character is a word.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "heed/text/tokeniser.h"

namespace heed::text {

inline const std::string kWordPiece = "wordpiece";

struct WordPieceParts {
  bool clean = true, lower = true, strip = true, ideographs = true;
  int64_t longest = 100;
  std::vector<std::string> special;  // the tokens from kSpecials on that no text is cut into, then the others
  std::vector<std::string> tokens;
};

/// What the file of such a tokeniser holds.
std::string wordpiece_contents(const WordPieceParts& parts);

std::shared_ptr<const Tokeniser> parse_wordpiece(std::string_view contents, std::string_view name);

}  // namespace heed::text
