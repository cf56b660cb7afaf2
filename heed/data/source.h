// What a model reads: a text, its sentences, two texts, a picture and perhaps a question about it, rows of numbers; or
// the same as each model of an ensemble reads it. One type for data sets, batches, models and searches. A model takes
// the parts that it knows.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heed/data/ragged.h"

namespace heed::data {

/// One source, as a view. A part that is empty is not there.
struct Source {
  std::span<const int32_t> tokens = {};     // of a text, or of the question about a picture
  std::span<const int32_t> sentences = {};  // how many tokens each sentence has, of those that the text is made of
  std::span<const int32_t> second = {};     // tokens of a second text, which is read together with the first
  std::span<const uint8_t> pixels = {};     // [side, side, 3] of a picture
  std::span<const float> numbers = {};      // [rows, columns], such as frames of speech; the model knows the columns
  std::span<const int32_t> copies = {};     // what each of `tokens` is as a token of the target: CopiedWords::ids
};

/// Packed: B sources, the parts of all one after another, without padding.
/// Threads: as a std::vector.
class Sources {
 public:
  int64_t size() const { return tokens.size(); }  // B
  Source operator[](int64_t i) const;

  /// A text alone.
  static Sources of(std::span<const int32_t> text);

  void add(const Source& source);
  void add(std::span<const int32_t> text) { add(Source{.tokens = text}); }

  /// The sources with these numbers, in this order. Throws Error if there is none of a number.
  Sources pack(std::span<const int64_t> numbers) const;

  Sequences tokens;  // [B] lists. Of the other parts there are B too, or 0 if no source has them
  Sequences sentences, second;
  Ragged<uint8_t> pixels;
  Ragged<float> numbers;
  Sequences copies;

  /// Of an ensemble: the same sources as each model after the first reads them.
  std::vector<Sources> others;
};

}  // namespace heed::data
