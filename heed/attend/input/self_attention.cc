// I2 self_attention: Q = W_Q X, K = W_K X, V = W_V X.  Parameters: query, key, value .weight and .bias.
#include "heed/attend/all.h"

namespace heed::attend {

const Entry self_attention_entry = {
    .id = "I2",
    .name = "self_attention",
    .part = Part::input,
    .title = "a sequence attends to itself",
    .formula = "Q = W_Q X,  K = W_K X,  V = W_V X",
    .paper =
        "Cheng, Dong and Lapata 2016, Long Short-Term Memory-Networks for Machine Reading; Vaswani et al. 2017, "
        "Attention Is All You Need",
    .time = "that of the score + 3 n D^2",
    .memory = "that of the score + 3 n D",
    .combines = "any score, normaliser, region and time behaviour",
    .page =
        "Every row attends to all rows of its own sequence. Three matrices turn it into query, key and value, so that "
        "a row can ask for something other than what it offers. Pass the same rows to prepare() and attend().",
    .options = "key_width width heads kv_heads",
    .preset =
        [](Options& o) {
          o.input = "self_attention";
          o.project = true;
        },
    .instead = {.to_source = &cross_attention_entry},
    .same_rows = true,
};

}  // namespace heed::attend
