#include "heed/task/image/picture_encoder.h"

#include <algorithm>
#include <string>

#include "heed/base/error.h"
#include "heed/tensor/op/activation.h"
#include "heed/tensor/op/arithmetic.h"
#include "heed/tensor/op/arrange.h"
#include "heed/tensor/op/dropout.h"

namespace heed::task {

int64_t cells_of_side(int64_t side, int64_t layers) {
  expect(layers >= 1 && layers <= 16 && side > 0 && side % (int64_t{1} << layers) == 0,
         "model: picture_size = {} cannot be halved picture_layers = {} times without a rest", side, layers);
  return side >> layers;
}

PictureEncoder::PictureEncoder(const Scope& scope, const PictureOptions& o)
    : options_(o), cells_(cells_of_side(o.side, o.layers)) {
  constexpr int64_t kNarrowest = 8;
  int64_t in = 3;
  for (int64_t l = 0; l < o.layers; ++l) {
    const bool last = l + 1 == o.layers;
    const int64_t out = last ? o.width : std::max(kNarrowest, o.width >> (o.layers - 1 - l));
    convolutions_.emplace_back(
        scope / "convolution" / std::to_string(l),
        ConvolutionOptions{.in = in, .out = out, .kernel = o.kernel, .stride = 2, .padding = (o.kernel - 1) / 2});
    in = out;
  }
  norm_ = LayerNorm(scope / "norm", o.width);
  row_ = &scope.make("row", {cells_, o.width}, Initialiser::normal(0.02f));
  column_ = &scope.make("column", {cells_, o.width}, Initialiser::normal(0.02f));
}

encode::Encoded PictureEncoder::run(const Packed& pixels) const {
  Tape& tape = pixels.rows.tape();
  const int64_t count = pixels.offsets.count, cells = cells_ * cells_;
  Images images = {pixels.rows, count, options_.side, options_.side};
  for (const Convolution& convolution : convolutions_) {
    images = convolution(images);
    images.cells = gelu(images.cells);
  }
  auto* rows = tape.keep<int64_t>(count * cells);
  auto* columns = tape.keep<int64_t>(count * cells);
  for (int64_t i = 0; i < count * cells; ++i) {
    rows[i] = i % cells / cells_;
    columns[i] = i % cells_;
  }
  const auto all = static_cast<size_t>(count * cells);
  const Tensor place =
      add(gather_rows(tape.parameter(*row_), {rows, all}), gather_rows(tape.parameter(*column_), {columns, all}));
  return {{dropout(add(norm_(images.cells), place), options_.dropout), tape.even_offsets(count, cells)}};
}

}  // namespace heed::task
