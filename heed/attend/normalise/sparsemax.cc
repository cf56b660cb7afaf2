// N5 sparsemax: exact zeros, exact gradient.
#include "heed/attend/normalise/normalise.h"

namespace heed::attend {

const Entry sparsemax_entry = {
    .id = "N5",
    .name = "sparsemax",
    .part = Part::normalise,
    .title = "most weights are exactly 0",
    .formula = "a_i = the point nearest to e_i among all weights that are >= 0 and sum to 1",
    .paper =
        "Martins and Astudillo 2016, From Softmax to Sparsemax: A Sparse Model of Attention and Multi-Label "
        "Classification",
    .time = "n m, with a few passes over the scores of a block of queries",
    .memory = "2 n, and the scores of 96 queries per thread",
    .combines = "any score and region (no learned sink); any time behaviour but forced_forward",
    .page =
        "The weights sum to 1, and most are exactly 0: a key with a low score drops out and gets no gradient. "
        "Alignments become easy to read.",
    .options = "dropout",
    .make_normalise = new_normalise<kernels::Normaliser::sparsemax>,
};

}  // namespace heed::attend
