// I4 plain_mode: K = V.
#include "heed/attend/all.h"

namespace heed::attend {

const Entry plain_mode_entry = {
    .id = "I4",
    .name = "plain_mode",
    .part = Part::input,
    .title = "the keys are the values",
    .formula = "c_i = sum_j a_ij k_j",
    .paper = "Bahdanau, Cho and Bengio 2015, Neural Machine Translation by Jointly Learning to Align and Translate",
    .time = "that of the score",
    .memory = "nothing",
    .combines = "any score, normaliser, region and time behaviour",
    .page =
        "One vector per memory row serves as both: it is compared with the query, and it is what the query receives. "
        "value_width stays 0.",
    .options = "key_width",
    .preset = [](Options& o) { o.value_width = 0; },
    .about_values = true,
};

}  // namespace heed::attend
