// I3 cross_attention: decoder queries, encoder keys and values.  Parameters: query, key, value .weight and .bias.
#include "heed/attend/all.h"

namespace heed::attend {

const Entry cross_attention_entry = {
    .id = "I3",
    .name = "cross_attention",
    .part = Part::input,
    .title = "a decoder attends to an encoder",
    .formula = "Q = W_Q S,  K = W_K H,  V = W_V H",
    .paper = "Vaswani et al. 2017, Attention Is All You Need",
    .time = "that of the score + (n + 2 m) D^2",
    .memory = "that of the score + (n + 2 m) D",
    .combines = "any score, normaliser, region and time behaviour",
    .page =
        "Queries come from the decoder, keys and values from the encoder. The memory is prepared once and used at "
        "every step.",
    .options = "query_width key_width width heads kv_heads",
    .preset =
        [](Options& o) {
          o.input = "cross_attention";
          o.project = true;
        },
};

}  // namespace heed::attend
