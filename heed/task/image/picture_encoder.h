// pixels -> the cells of a feature map, for a decoder to look at.   Xu et al. 2015: Show, attend and tell
#pragma once

#include <cstdint>
#include <vector>

#include "heed/layer/convolution.h"
#include "heed/layer/norm.h"
#include "heed/model/encode/encoder.h"

namespace heed::task {

struct PictureOptions {
  int64_t side = 0;    // pixels of a picture, which is square
  int64_t layers = 0;  // each halves the side: a map of side / 2^layers cells to a side
  int64_t kernel = 3;  // with 2, a cell sees its own part of the picture; with more, some of its neighbours too
  int64_t width = 0;   // of a cell; of the layer before half of that, and so on, but at least 8
  float dropout = 0.0f;
};

/// Cells of a side. Throws, naming the keys of the recipe, if the sizes do not fit.
int64_t cells_of_side(int64_t side, int64_t layers);

/// Layer: convolution with stride 2, gelu. Then a norm, and learned positions of the rows and columns.
/// Parameters: "convolution.N", "norm", "row" and "column" [cells of a side, width].
class PictureEncoder final : public encode::Encoder {
 public:
  PictureEncoder(const Scope& scope, const PictureOptions& options);

  /// Pixels [B * side * side, 3] -> memory [B * cells, width], row by row.
  encode::Encoded run(const Packed& pixels) const override;
  int64_t width() const override { return options_.width; }

 private:
  PictureOptions options_;
  int64_t cells_;  // of a side
  std::vector<Convolution> convolutions_;
  LayerNorm norm_;
  Parameter* row_ = nullptr;
  Parameter* column_ = nullptr;
};

}  // namespace heed::task
