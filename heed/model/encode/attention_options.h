// Which part of the attention in a recipe applies to which attention of a model, and what fits nowhere.
//
//                     encoder, to itself   decoder, to its past   decoder, to the source
//   score             as named             as named               as named; scaled_dot for the synthesizers
//   intra             general              intra                  general
//   normalise         as named             as named               as named
//   hard_sampled      softmax              softmax                hard_sampled
//   region            as named             causal + as named      global
//   local_p           -                    -                      local_p
//   local_h           as named             as named               as named
//   position          as named             as named               -
//   time              dynamic              dynamic                as named
//
// The reasons: a window, a causal mask, what hides the own row and a distance are about positions in one sequence, so
// they belong to self-attention. How attention moves from step to step (time), a predicted position (local_p) and a
// sampled, rewarded choice (hard_sampled) are about a target that moves along a source. The synthesizers replace
// self-attention (Tay et al. 2021), and intra is a decoder's attention to its own past (Paulus et al. 2018).
// Entry::instead says so of each mechanism; attention_options.cc only reads it. A recurrent model has the last column
// only, and there everything is as named.
#pragma once

#include "heed/attend/options.h"
#include "heed/model/encode/encoder.h"

namespace heed::encode {

// For a Transformer. All throw, with every reason, if the options do not define heads.
attend::Options encoder_self_attention(const StackOptions& options);
attend::Options decoder_self_attention(const StackOptions& options);
attend::Options source_attention(const StackOptions& options, int64_t memory_width);
/// Of a decoder without a source. As decoder_self_attention(), and documents can be told apart.
attend::Options text_self_attention(const StackOptions& options);

/// Of recurrent states of `query_width` to a memory: any attention of the catalogue that takes queries. The name alone
/// is enough: multi_head comes with its projections, and a score that needs q and k of one width gets projections if
/// they differ. Where a structure has none (hierarchical_query), the default score becomes general.
attend::Options source_attention(const attend::Options& named, int64_t query_width, int64_t memory_width);

/// Of the recurrent states of a text, of `width`, to those before them: key_value as it is, and any other attention of
/// the catalogue that takes queries, inside a strict causal region.
attend::Options past_attention(const attend::Options& named, int64_t width);

}  // namespace heed::encode
