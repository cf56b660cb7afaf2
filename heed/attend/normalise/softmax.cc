// N1 softmax: weights that are positive and sum to 1.
#include "heed/attend/normalise/normalise.h"

namespace heed::attend {

const Entry softmax_entry = {
    .id = "N1",
    .name = "softmax",
    .part = Part::normalise,
    .title = "positive weights that sum to 1",
    .formula = "a_ij = exp(e_ij) / sum_l exp(e_il)",
    .paper =
        "Bridle 1990, Probabilistic Interpretation of Feedforward Classification Network Outputs; in attention: "
        "Bahdanau, Cho and Bengio 2015, Neural Machine Translation by Jointly Learning to Align and Translate",
    .time = "n m exp",
    .memory = "2 n",
    .combines = "any score, region and time behaviour",
    .page =
        "Every visible key gets some weight, and the weights of a query sum to 1. It is computed in one pass with a "
        "running maximum, so large scores do not overflow.\n\n"
        "The default, and the right choice unless there is a reason for another.",
    .options = "dropout",
    .sums_exp = true,
    .make_normalise = new_normalise<kernels::Normaliser::softmax>,
};

}  // namespace heed::attend
