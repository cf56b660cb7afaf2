// The option of the encoder `transformer`, for programs that set it without a recipe.
#pragma once

#include "heed/model/encode/own_options.h"

namespace heed::encode {

struct TransformerEncoderKeys {
  bool shared_layers = false;  // all layers have the same weights.  Lan et al. 2020
};

inline void set_shared_layers(OwnOptions& options, bool shared) {
  options.of<TransformerEncoderKeys>().shared_layers = shared;
}

}  // namespace heed::encode
