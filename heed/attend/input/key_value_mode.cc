// I4 key_value_mode: K != V.
#include "heed/attend/all.h"

namespace heed::attend {

const Entry key_value_mode_entry = {
    .id = "I4",
    .name = "key_value_mode",
    .part = Part::input,
    .title = "keys and values of their own",
    .formula = "c_i = sum_j a_ij v_j",
    .paper = "Miller et al. 2016, Key-Value Memory Networks for Directly Reading Documents",
    .time = "that of the score",
    .memory = "nothing",
    .combines = "any score, normaliser, region and time behaviour",
    .page =
        "A memory row has two parts: the key by which it is found and the value that is found there. Memory::values "
        "carries the second; their widths are free.",
    .options = "key_width value_width",
    .preset =
        [](Options& o) {
          if (o.value_width == 0) o.value_width = o.key_width;
        },
    .about_values = true,
};

}  // namespace heed::attend
