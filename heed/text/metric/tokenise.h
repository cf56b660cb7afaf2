// How BLEU splits texts into tokens. Scores with different tokenisations cannot be compared.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heed::metric {

enum class Tokenisation {
  v13a,           // punctuation of Western languages, as the WMT scorer mteval-v13a does; the usual choice
  none,           // split at spaces only: for texts that are already tokenised
  characters,     // every character: for languages written without spaces
  international,  // punctuation and symbols of all scripts, as mteval-v14 --international-tokenization
};

/// "13a", "none", "char", "intl". Throws Error for any other name, suggesting the nearest one.
Tokenisation tokenisation_of(std::string_view name);
std::string_view name_of(Tokenisation tokenisation);

/// The tokens of valid UTF-8.
std::vector<std::u32string> tokenised(std::string_view text, Tokenisation tokenisation);

}  // namespace heed::metric
