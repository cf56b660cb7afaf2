// The two equivalent Unicode forms of a text: composed and decomposed.
#pragma once

#include <string>
#include <string_view>

namespace heed::text {

/// NFD: an accented letter becomes a letter and its accent, a Hangul syllable its two or three letters. Valid UTF-8.
std::string decomposed(std::string_view text);

/// NFC: the reverse.
std::string composed(std::string_view text);

}  // namespace heed::text
