// The options of the encoder `convolution`, for programs that set them without a recipe.
#pragma once

#include <cstdint>

namespace heed::encode {

struct ConvolutionKeys {
  int64_t kernel = 3;  // rows that a layer sees at once
};

}  // namespace heed::encode
