// All positions of a target at once.   Ghazvininejad et al. 2019: Mask-Predict
#include "heed/decode/all.h"

namespace heed::decode {

const DecoderEntry parallel_decoder = {
    .name = "parallel",
    .meaning = "a Transformer that writes all positions at once and refines them",
    .needs_positions = true,
    .make_parallel = parallel_transformer,
};

}  // namespace heed::decode
