// An encoder without blocks whose states look at each other, if a recipe asks for it ([attention.encoder]):
//   h'_i = tanh(W [c_i; h_i])      c_i: what h_i found among all h
#pragma once

#include <memory>

#include "heed/model/encode/encoder.h"

namespace heed::encode {

/// `encoder` itself if nothing is said about its attention. Parameters: "self" and "combine".
std::unique_ptr<Encoder> self_attending(const Scope& scope, const StackOptions& options,
                                        std::unique_ptr<Encoder> encoder);

}  // namespace heed::encode
