// The recordings of a batch stand below each other in one tall image, with empty rows between them, so that no row of
// one sees another. What a layer writes into the empty rows (its bias) is set to 0 for the next one.
#include "heed/task/speech/frame_convolution.h"

#include <algorithm>
#include <string>

#include "heed/base/error.h"
#include "heed/task/speech/frame_changes.h"
#include "heed/tensor/op/activation.h"
#include "heed/tensor/op/arithmetic.h"
#include "heed/tensor/op/arrange.h"

namespace heed::task {

namespace {

constexpr int64_t kKernel = 3, kStride = 2, kPadding = 1;

/// Where each recording stands in the image.
struct Places {
  std::vector<int64_t> first, frames;
  int64_t rows = 0;  // of the image
};

Places places_of(const data::Ragged<float>& numbers, int64_t bands, int64_t unit) {
  Places places;
  for (int64_t b = 0; b < numbers.size(); ++b) {
    expect(numbers.length(b) > 0 && numbers.length(b) % bands == 0,
           "model: a recording has {} numbers, which are no frames of {} bands", numbers.length(b), bands);
    const int64_t frames = numbers.length(b) / bands;
    places.first.push_back(places.rows);
    places.frames.push_back(frames);
    places.rows += (frames + unit - 1) / unit * unit + unit;  // so that some row is empty after each layer
  }
  return places;
}

/// The rows of the image after `halved` layers, without what stands between recordings.
Images without_gaps(const Images& image, Places& places, int64_t halved) {
  auto* keep = image.cells.tape().keep<float>(image.height * image.width);
  std::fill_n(keep, image.height * image.width, 0.0f);
  for (size_t b = 0; b < places.first.size(); ++b)
    std::fill_n(keep + (places.first[b] >> halved) * image.width, places.frames[b] * image.width, 1.0f);
  return {scale_rows(image.cells, keep), 1, image.height, image.width};
}

}  // namespace

FrameConvolution::FrameConvolution(const Scope& scope, const SpeechOptions& o, int64_t width) : options_(o) {
  int64_t in = 1;
  for (int64_t l = 0; l < o.convolutions; ++l) {
    convolutions_.emplace_back(
        scope / "convolution" / std::to_string(l),
        ConvolutionOptions{.in = in, .out = o.channels, .kernel = kKernel, .stride = kStride, .padding = kPadding});
    in = o.channels;
  }
  linear_ = Linear(scope / "linear", rows_of_frames(o.bands, o.convolutions) * o.channels, width);
  norm_ = LayerNorm(scope / "norm", width);
}

Packed FrameConvolution::run(Tape& tape, const data::Ragged<float>& given) const {
  const int64_t bands = options_.bands;
  data::Ragged<float> changed;
  const bool changes = tape.training() && options_.changes_frames();
  const uint64_t seed = changes ? tape.next_seed() : 0;
  for (int64_t b = 0; changes && b < given.size(); ++b)
    changed.add(changed_frames(given[b], options_, seed + static_cast<uint64_t>(b)));
  const data::Ragged<float>& numbers = changes ? changed : given;

  Places places = places_of(numbers, bands, int64_t{1} << options_.convolutions);
  auto* pixels = tape.keep<float>(places.rows * bands);
  std::fill_n(pixels, places.rows * bands, 0.0f);
  for (int64_t b = 0; b < numbers.size(); ++b)
    std::copy_n(numbers[b].data(), numbers.length(b), pixels + places.first[static_cast<size_t>(b)] * bands);
  Images image = {tape.input(pixels, places.rows * bands, 1), 1, places.rows, bands};
  for (size_t l = 0; l < convolutions_.size(); ++l) {
    image = convolutions_[l](image);
    image.cells = gelu(image.cells);
    for (int64_t& frames : places.frames) frames = (frames + 1) / 2;
    if (l + 1 < convolutions_.size()) image = without_gaps(image, places, static_cast<int64_t>(l) + 1);
  }
  std::vector<int64_t> rows, offsets = {0};
  for (size_t b = 0; b < places.first.size(); ++b) {
    for (int64_t t = 0; t < places.frames[b]; ++t) rows.push_back((places.first[b] >> options_.convolutions) + t);
    offsets.push_back(std::ssize(rows));
  }
  const Tensor of_time = reshape(image.cells, image.height, image.width * image.cells.cols());
  return {norm_(linear_(gather_rows(of_time, rows))), tape.offsets(offsets)};
}

}  // namespace heed::task
