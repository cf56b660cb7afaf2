// The list of encoders. A recipe's model.encoder, its choices and its documentation follow from it: a new encoder is
// one file and one line here.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "heed/base/list.h"
#include "heed/model/encode/encoder.h"
#include "heed/model/encode/own_options.h"

namespace heed::file {
class Fields;  // base/fields.h
}

namespace heed::encode {

struct EncoderEntry {
  const char* name;     // the name in recipes
  const char* meaning;  // a few words
  /// It sees its rows as a set: positions are added to the vectors, which are then scaled.
  bool needs_positions = false;
  /// The keys of [model] that it reads, beside those that all have: words between blanks.
  const char* keys = "";
  /// Declares keys of [model] that nobody else reads, where they go, and their range. Null: there are none.
  void (*add_keys)(file::Fields& fields, OwnOptions& options) = nullptr;
  /// Updates after which a model with it has learned most, if nothing is said about the length of a training.
  int64_t updates_to_learn = 1500;
  /// Blocks of self-attention: deeper than others, and with heads of their own.
  bool self_attention = false;
  std::unique_ptr<Encoder> (*make)(const Scope& scope, const StackOptions& options) = nullptr;
};

#define HEED_ENCODERS(X) X(recurrent) X(transformer) X(convolution) X(lstmn)

#define HEED_DECLARE(name) extern const EncoderEntry name##_encoder;
HEED_ENCODERS(HEED_DECLARE)
#undef HEED_DECLARE

const List<EncoderEntry>& all_encoders();
/// Throws, naming the nearest.
inline const EncoderEntry& find_encoder(std::string_view name) { return all_encoders().find(name); }

}  // namespace heed::encode
