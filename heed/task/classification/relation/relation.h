// How two texts are judged together: from their tokens to one vector.
#pragma once

#include <cstdint>
#include <memory>

#include "heed/attend/mechanism.h"
#include "heed/data/source.h"
#include "heed/layer/parameters.h"
#include "heed/model/embed/embed.h"
#include "heed/model/encode/encoder.h"
#include "heed/model/options.h"
#include "heed/task/attention_place.h"
#include "heed/task/classification/keys.h"

namespace heed::task {

/// One encoder for both texts.
struct Reader {
  const embed::Embed& embed;
  const encode::Encoder* encoder;  // null: the relation reads the vectors alone

  /// The vectors of the tokens, [tokens, width].
  Packed vectors(Tape& tape, const data::Sequences& texts) const {
    return embed(tape, texts.values(), tape.offsets(texts.offsets()));
  }
  Packed states(const Packed& vectors) const { return encoder->run(vectors).memory; }
};

/// Threads: many may use it at once, each with its own tape.
class Relation {
 public:
  virtual ~Relation() = default;

  /// -> [B, width()]. `weights`, if not null, are what each token of the second text looked at in the first,
  /// [B, heads, longest second, longest first]; nothing where the relation has no such attention.
  virtual Tensor run(const Reader& reader, Tape& tape, const data::Sources& texts, attend::Weights* weights) const = 0;
  virtual int64_t width() const = 0;
};

/// What a relation is made from.
struct RelationParts {
  const Scope& scope;  // that of the encoder
  const model::Options& options;
  int64_t vectors = 0, states = 0;  // widths; without an encoder there are no states
};

struct RelationEntry {
  const char* name;     // the word in recipes: model.relation
  const char* meaning;  // a few words
  bool joins = false;   // the encoder reads both texts as one sequence
  /// Whether it reads the states of an encoder, with these keys. Null: always.
  bool (*encodes)(const LabelKeys& keys) = nullptr;
  /// What its own attention, of this name in its scope, looks from and at. `call`: 1 for the second call of the same
  /// one.
  AttentionPlace (*place)(std::string_view attention, int64_t call);
  std::unique_ptr<Relation> (*make)(const RelationParts& parts);
};

}  // namespace heed::task
