// N2 relu: each weight from its own score, optionally divided by the number of visible keys.
#include "heed/attend/normalise/normalise.h"

namespace heed::attend {

const Entry relu_entry = {
    .id = "N2",
    .name = "relu",
    .part = Part::normalise,
    .title = "rectified scores",
    .formula = "a_ij = max(e_ij, 0),  divided by the number of visible keys with divide_by_visible",
    .paper = "Wortsman et al. 2023, Replacing softmax with ReLU in Vision Transformers",
    .time = "n m",
    .memory = "2 n",
    .combines = "any score and region (no learned sink); any time behaviour but forced_forward",
    .page =
        "A key with a negative score gets weight 0; for the others the score is the weight. The weights need not sum "
        "to 1, so keys do not compete, and a long memory gives a large context unless divide_by_visible is set.",
    .options = "divide_by_visible dropout",
    .make_normalise = new_normalise<kernels::Normaliser::relu>,
};

}  // namespace heed::attend
