#include "heed/model/stack_options.h"

#include "heed/base/error.h"
#include "heed/model/encode/choices.h"

namespace heed::model {

Resolved::Resolved(const Options& o)
    : tied(value_of(kTied, o.tied, "model: tied")),
      norm(value_of(kNorms, o.norm, "model: norm")),
      norm_options{value_of(kNormKinds, o.norm_kind, "model: norm_kind"), o.norm_epsilon},
      positions(value_of(kPositions, o.positions, "model: positions")),
      cell(value_of(encode::kCells, o.cell, "model: cell")),
      wiring(value_of(encode::kWirings, o.wiring, "model: wiring")) {}

embed::Options embedding_options(const Options& o, const Resolved& words, int64_t vocabulary, bool needs_positions) {
  const bool added =
      needs_positions && (words.positions == Positions::sinusoidal || words.positions == Positions::learned);
  return {.vocabulary = vocabulary,
          .width = o.width,
          .positions = !added                                  ? "none"
                       : words.positions == Positions::learned ? "learned"
                                                               : "sinusoidal",
          .max_length = o.max_length,
          .scaled = needs_positions && o.scale_embeddings,
          .table_width = o.embedding_width,
          .normed = needs_positions && o.embedding_norm,
          .norm = words.norm_options,
          .dropout = o.dropout};
}

encode::StackOptions stack_options(const Options& o, const Resolved& words, int64_t layers, bool needs_positions) {
  encode::StackOptions stack{.width = o.width,
                             .layers = layers,
                             .hidden = o.hidden,
                             .activation = o.activation,
                             .pre_norm = words.norm == Norm::pre,
                             .final_norm = o.final_norm,
                             .norm = words.norm_options,
                             .head_width = o.head_width,
                             .bias = o.bias,
                             .dropout = o.dropout,
                             .attention = o.attention,
                             .places = o.places,
                             .wiring = words.wiring,
                             .own = o.own,
                             .cell = words.cell,
                             .bidirectional = o.bidirectional,
                             .input_feeding = o.input_feeding};
  const bool in_attention = words.positions == Positions::alibi || words.positions == Positions::rotary;
  if (!needs_positions || !in_attention) return stack;
  expect(o.attention.position == "none" || o.attention.position == o.positions,
         "model: positions = \"{}\" and attention.position = \"{}\"; set one of them to none", o.positions,
         o.attention.position);
  stack.attention.position = o.positions;
  return stack;
}

}  // namespace heed::model
