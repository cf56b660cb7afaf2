// The words of a text as BERT sees them: what is left out, what is changed, and where a word ends. Equal to the library
// tokenizers, which knows the characters of Unicode 8; those that came later are no punctuation and no accents.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace heed::text {

struct BertForm {
  bool clean = true;       // control characters are left out; every kind of blank becomes a blank
  bool ideographs = true;  // a blank on both sides of each Chinese character
  bool strip = true;       // without accents: decomposed (NFD), without marks that take no room
  bool lower = true;       // lower case, character by character
};

/// Of valid UTF-8.
std::string bert_normalised(std::string_view text, const BertForm& form);

/// visit(word) for each: what is between blanks, where each punctuation character is alone. Of valid UTF-8.
void each_bert_word(std::string_view text, const std::function<void(std::string_view)>& visit);

}  // namespace heed::text
