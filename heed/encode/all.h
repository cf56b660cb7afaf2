// The list of encoders. A recipe's model.encoder, its choices and its documentation follow from it: a new encoder is
// one file and one line here.
#pragma once

#include <memory>
#include <string_view>

#include "heed/encode/encoder.h"
#include "heed/tensor/list.h"

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

const List<EncoderEntry>& all_encoders();
/// Throws, naming the nearest.
inline const EncoderEntry& find_encoder(std::string_view name) { return all_encoders().find(name); }

}  // namespace heed::encode
