// Vectors of words that were learned elsewhere (word2vec, fastText, GloVe), as text: a line is a word and its numbers,
// separated by blanks. A first line of two whole numbers (words, width) is skipped.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

#include "heed/text/tokeniser.h"

namespace heed::data {

/// Numbers on the first line. Throws Error if the file cannot be read, or its first line is no word with numbers.
int64_t width_of_vectors(const std::filesystem::path& file);

/// Writes the vectors of the tokens that the file has into their rows of `table` [tokens, width]; the other rows stay.
/// Of a word that occurs twice the first counts. Returns how many tokens were found. Throws Error naming the line if it
/// has not `width` numbers, or one that is not finite.
int64_t read_word_vectors(const std::filesystem::path& file, const text::Tokeniser& tokens, int64_t width,
                          std::span<float> table);

}  // namespace heed::data
