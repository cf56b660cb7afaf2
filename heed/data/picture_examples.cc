#include "heed/data/picture_examples.h"

#include "heed/tensor/error.h"

namespace heed::data {

void PictureExamples::add(const Picture& picture, std::span<const int32_t> question, std::span<const int32_t> answer,
                          int64_t line) {
  expect(picture.height == side_ && picture.width == side_, ErrorKind::bug, "a picture of {} x {} pixels, not {} x {}",
         picture.width, picture.height, side_, side_);
  rgb_.insert(rgb_.end(), picture.rgb.begin(), picture.rgb.end());
  texts_.source.add(question);
  texts_.target.add(answer);
  texts_.line.push_back(line);
}

std::vector<Batch> PictureExamples::batches(const BatchOptions& options, int64_t epoch) const {
  Lengths lengths = lengths_of(texts_);
  for (int64_t& length : lengths.source) length += cells_;
  return make_batches(lengths, options, epoch);
}

std::unique_ptr<PackedBatch> PictureExamples::pack(std::span<const int64_t> examples) const {
  auto batch = std::make_unique<PackedPictures>();
  batch->side = side_;
  batch->texts = pack_pairs(texts_, examples);
  batch->pixels.reserve(examples.size() * static_cast<size_t>(pixel_bytes()));
  for (const int64_t i : examples)
    for (const uint8_t value :
         std::span(rgb_).subspan(static_cast<size_t>(i * pixel_bytes()), static_cast<size_t>(pixel_bytes())))
      batch->pixels.push_back(static_cast<float>(value) * (2.0f / 255.0f) - 1.0f);
  return batch;
}

}  // namespace heed::data
