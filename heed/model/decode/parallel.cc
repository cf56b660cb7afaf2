// All positions of a target at once.   Ghazvininejad et al. 2019: Mask-Predict
#include "heed/model/decode/all.h"

namespace heed::decode {

const DecoderEntry parallel_decoder = {
    .name = "parallel",
    .meaning = "a Transformer that writes all positions at once and refines them",
    .needs_positions = true,
    .keys = "hidden activation norm positions max_length length slots",
    .updates_to_learn = 5000,
    .self_attention = true,
    .make_parallel = parallel_transformer,
};

}  // namespace heed::decode
