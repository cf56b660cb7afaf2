// From what a recipe says about attention to what each attention of a model does. What is named for a place
// ([attention.source]) holds there as it is; what [attention] says applies where it makes sense:
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
// Entry::instead says so of each mechanism; attention_options.cc only reads it. A recurrent model has the last column,
// and there everything is as named; the others only if something is named for them.
#pragma once

#include "heed/attend/options.h"
#include "heed/model/encode/encoder.h"

namespace heed::encode {

// Of heads in a block: a Transformer. All throw, with every reason, if the options do not define heads.
attend::Options encoder_self_attention(const StackOptions& options, int64_t layer = 0);
attend::Options decoder_self_attention(const StackOptions& options, int64_t layer = 0);
/// Of a decoder that sees all positions at once.
attend::Options parallel_self_attention(const StackOptions& options, int64_t layer = 0);
attend::Options source_attention(const StackOptions& options, int64_t memory_width, int64_t layer = 0);
/// Of a decoder without a source. As decoder_self_attention(), and documents can be told apart.
attend::Options text_self_attention(const StackOptions& options, int64_t layer = 0);

/// Of recurrent states of `query_width` to a memory: any attention of the catalogue that takes queries. The name alone
/// is enough: multi_head comes with its projections, and a score that needs q and k of one width gets projections if
/// they differ, unless it was said whether there are any. Where a structure has none
/// (hierarchical_query), the default score becomes general.
attend::Options source_attention(const Chosen& named, int64_t query_width, int64_t memory_width);

/// Of the states of an encoder that has no blocks, of `width`, to all of them.
attend::Options states_attention(const StackOptions& options, int64_t width);

/// Of the recurrent states of a text, of `width`, to those before them: key_value as it is, and any other attention of
/// the catalogue that takes queries, inside a strict causal region.
attend::Options past_attention(const Chosen& named, int64_t width);
/// The same beside a source: what only [attention] names applies as in a Transformer's decoder, and key_value, which
/// makes an output of its own, does not fit.
attend::Options past_attention_beside_source(const StackOptions& options, int64_t width);

}  // namespace heed::encode
