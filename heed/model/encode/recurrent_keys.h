// The options of encoders and decoders of the kind `rnn` alone, for programs that set them without a recipe.
#pragma once

#include <cstdint>
#include <string>

#include "heed/base/choice.h"

namespace heed::encode {

struct RecurrentEncoderKeys {
  int64_t encoder_hidden = 0;  // width of the encoder's states, of each direction; 0: the model's width
};

/// How the states of a decoder begin: a layer with tanh on the last states of the encoder, or those of each layer as
/// they are, both directions side by side.
inline constexpr Choice<bool> kBridges[] = {{"tanh", false}, {"copy", true}};

struct RecurrentDecoderKeys {
  std::string bridge = "tanh";  // a word of kBridges
};

}  // namespace heed::encode
