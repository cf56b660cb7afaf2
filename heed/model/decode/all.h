// The list of decoders. A recipe's model.decoder, its choices and its documentation follow from it: a new decoder
// is one file and one line here.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "heed/base/list.h"
#include "heed/model/decode/decoder.h"
#include "heed/model/encode/own_options.h"

namespace heed::file {
class Fields;  // base/fields.h
}

namespace heed::decode {

struct DecoderEntry {
  const char* name;     // the name in recipes
  const char* meaning;  // a few words
  /// It sees its rows as a set: positions are added to the vectors, which are then scaled.
  bool needs_positions = false;
  /// The keys of [model] that it reads, beside those that all have: words between blanks.
  const char* keys = "";
  /// Declares keys of [model] that nobody else reads, where they go, and their range. Null: there are none.
  void (*add_keys)(file::Fields& fields, encode::OwnOptions& options) = nullptr;
  /// Updates after which a model with it has learned most, if nothing is said about the length of a training.
  int64_t updates_to_learn = 1500;
  /// Blocks of self-attention: deeper than others, and with heads of their own.
  bool self_attention = false;
  /// A decoder that attends to the output of `encoder`. One of the two: it writes step by step, or all at once.
  std::unique_ptr<Decoder> (*make)(const Scope& scope, const encode::StackOptions& options,
                                   const encode::Encoder& encoder) = nullptr;
  std::unique_ptr<ParallelDecoder> (*make_parallel)(const Scope& scope, const encode::StackOptions& options,
                                                    const encode::Encoder& encoder) = nullptr;
};

#define HEED_DECODERS(X) X(recurrent) X(transformer) X(parallel)

#define HEED_DECLARE(name) extern const DecoderEntry name##_decoder;
HEED_DECODERS(HEED_DECLARE)
#undef HEED_DECLARE

const List<DecoderEntry>& all_decoders();
/// Throws, naming the nearest.
inline const DecoderEntry& find_decoder(std::string_view name) { return all_decoders().find(name); }
/// Whether it writes step by step.
inline bool writes_by_step(const DecoderEntry& decoder) { return decoder.make != nullptr; }

}  // namespace heed::decode
