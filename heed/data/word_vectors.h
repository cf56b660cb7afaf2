// Vectors of words that were learned elsewhere (word2vec, fastText, GloVe), as text: a line is a word and its numbers,
// separated by blanks. A first line of two whole numbers (words, width) is skipped. A few words of large files (GloVe
// of 840 billion tokens) have blanks inside: the numbers are the last ones of a line.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "heed/text/tokeniser.h"

namespace heed::data {

struct WordVectors {
  int64_t found = 0;        // tokens that the file has
  int64_t with_blanks = 0;  // words with blanks inside, which are no tokens
  int64_t line = 0;         // of the first of them
  std::string word = {};    // the first of them
};

/// Numbers at the end of most of the first lines. Throws Error if the file cannot be read, or these are no words with
/// numbers.
int64_t width_of_vectors(const std::filesystem::path& file);

/// Writes the vectors of the tokens that the file has into their rows of `table` [tokens, width]; the other rows stay.
/// Of a word that occurs twice the first counts. Throws Error naming the line if it has not `width` numbers, or one
/// that is not finite.
WordVectors read_word_vectors(const std::filesystem::path& file, const text::Tokeniser& tokens, int64_t width,
                              std::span<float> table);

}  // namespace heed::data
