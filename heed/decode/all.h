// The list of decoders. A recipe's model.decoder, its choices and its documentation follow from it: a new decoder
// is one file and one line here.
#pragma once

#include <memory>
#include <string_view>

#include "heed/decode/decoder.h"
#include "heed/tensor/list.h"

namespace heed::decode {

struct DecoderEntry {
  const char* name;     // the name in recipes
  const char* meaning;  // a few words
  /// It sees its rows as a set: positions are added to the vectors, which are then scaled.
  bool needs_positions = false;
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
