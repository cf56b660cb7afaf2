// Pictures with questions and answers, or with captions, as numbers.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "heed/data/examples.h"
#include "heed/data/packed_pairs.h"
#include "heed/data/picture.h"

namespace heed::data {

/// The arrays of a batch of B square pictures.
struct PackedPictures final : PackedBatch {
  int64_t side = 0;           // pixels
  std::vector<float> pixels;  // [B * side * side, 3], from -1 to 1
  PackedPairs texts;          // source: the questions, empty without; target: the answers

  int64_t size() const { return texts.size(); }  // B
  std::span<const int64_t> prediction_offsets() const override { return texts.target_offsets; }
};

class PictureExamples final : public Dataset {
 public:
  /// Pictures of [side, side] pixels. `cells`: the rows that a model makes of one; a batch is measured by them.
  PictureExamples(int64_t side, int64_t cells) : side_(side), cells_(cells) {}

  void add(const Picture& picture, std::span<const int32_t> question, std::span<const int32_t> answer, int64_t line);

  int64_t size() const override { return texts_.size(); }
  int64_t line_number(int64_t i) const override { return texts_.line_number(i); }
  int64_t predictions(int64_t i) const override { return texts_.predictions(i); }
  int64_t longest_sequence(int64_t i) const override { return texts_.longest_sequence(i); }
  std::vector<Batch> batches(const BatchOptions& options, int64_t epoch) const override;
  std::unique_ptr<PackedBatch> pack(std::span<const int64_t> examples) const override;  // PackedPictures

  const Examples& texts() const { return texts_; }
  std::span<const uint8_t> pixels() const { return rgb_; }  // of all, one after another

 private:
  int64_t pixel_bytes() const { return side_ * side_ * 3; }

  int64_t side_, cells_;
  Examples texts_;  // questions and answers
  std::vector<uint8_t> rgb_;
};

}  // namespace heed::data
