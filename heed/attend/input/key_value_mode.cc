// I4 key_value_mode: K != V.
#include "heed/attend/all.h"

namespace heed::attend {

const Entry key_value_mode_entry = {
    .id = "I4",
    .name = "key_value_mode",
    .part = Part::input,
    .title = "separate keys and values",
    .formula = "c_i = sum_j a_ij v_j",
    .paper = "Miller et al. 2016, Key-Value Memory Networks for Directly Reading Documents",
    .time = "that of the score",
    .memory = "nothing",
    .combines = "any score, normaliser, region and time behaviour",
    .page =
        "A memory row has two parts: a key to find it by and a value to return. Memory::values holds the values; their "
        "width is independent of the keys.",
    .options = "key_width value_width",
    .preset =
        [](Options& o) {
          if (o.value_width == 0) o.value_width = o.key_width;
        },
    .about_values = true,
};

}  // namespace heed::attend
