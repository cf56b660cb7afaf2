// What a reader sees as one letter: a base and the marks on it, a syllable of Hangul, an emoji with its skin.
//
// Texts are cut into code points for vocabularies (utf8.h says why), and into these where a person reads them: a mark
// must not be torn from its letter.
#pragma once

#include <string_view>
#include <vector>

namespace heed::text {

/// They are parts of `text` and make it up, one after the other: extended grapheme clusters, as Unicode says (UAX 29).
/// A byte that is not valid UTF-8 is one of its own.
std::vector<std::string_view> graphemes_of(std::string_view text);

}  // namespace heed::text
