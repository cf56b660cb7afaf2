// The same word in other tokens: SentencePiece can spell a word in several ways, and a model that must not write one of
// them may take another.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/text/tokeniser.h"

namespace heed::task {

/// The tokens that spell `phrase` in the text of `tokens`, as whole words; empty if it is not there.
std::vector<int32_t> spelling_in(std::span<const int32_t> tokens, std::string_view phrase,
                                 const text::Tokeniser& tokeniser);

/// Whether a text can be cut into tokens in more than one way.
bool has_other_spellings(const text::Tokeniser& tokeniser);

}  // namespace heed::task
