// N5 entmax15: exact zeros, exact gradient.
#include "heed/attend/normalise/normalise.h"

namespace heed::attend {

const Entry entmax15_entry = {
    .id = "N5",
    .name = "entmax15",
    .part = Part::normalise,
    .title = "between softmax and sparsemax (1.5-entmax)",
    .formula = "a_ij = max(e_ij / 2 - tau_i, 0)^2,  tau_i such that they sum to 1",
    .paper = "Peters, Niculae and Martins 2019, Sparse Sequence-to-Sequence Models",
    .time = "n m, with a few passes over the scores of a block of queries",
    .memory = "2 n, and the scores of 96 queries per thread",
    .combines = "any score and region (no learned sink); any time behaviour but forced_forward",
    .page =
        "Halfway between softmax and sparsemax: exact zeros for keys with low scores, smooth weights among the best "
        "ones. A good first choice when alignments should be sparse and still train easily.",
    .options = "dropout",
    .make_normalise = new_normalise<kernels::Normaliser::entmax15>,
};

}  // namespace heed::attend
