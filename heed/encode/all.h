// The list of encoders. A recipe's model.encoder, its choices and its documentation follow from it: a new encoder is
// one file and one line here.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "heed/encode/encoder.h"

namespace heed::encode {

struct EncoderEntry {
  const char* name;     // the name in recipes
  const char* meaning;  // a few words
  /// It sees its rows as a set: positions are added to the vectors, which are then scaled.
  bool needs_positions = false;
  std::unique_ptr<Encoder> (*make)(const Scope& scope, const StackOptions& options) = nullptr;
};

#define HEED_ENCODERS(X) X(recurrent) X(transformer) X(convolution)

#define HEED_DECLARE(name) extern const EncoderEntry name##_encoder;
HEED_ENCODERS(HEED_DECLARE)
#undef HEED_DECLARE

const std::vector<const EncoderEntry*>& all_encoders();
/// Throws, naming the nearest.
const EncoderEntry& find_encoder(std::string_view name);

}  // namespace heed::encode
