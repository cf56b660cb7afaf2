// N3 hard: weight 1 on the best key, the first one in a tie. Straight-through gradient: that of softmax.
#include "heed/attend/normalise/normalise.h"

namespace heed::attend {

const Entry hard_entry = {
    .id = "N3",
    .name = "hard",
    .part = Part::normalise,
    .title = "hard: only the best key",
    .formula = "a_ij = 1 for j = argmax e_i, else 0;  gradient as of softmax",
    .paper =
        "Xu et al. 2015, Show, Attend and Tell: Neural Image Caption Generation with Visual Attention; the gradient: "
        "Bengio, Leonard and Courville 2013, Estimating or Propagating Gradients Through Stochastic Neurons for "
        "Conditional Computation",
    .time = "n m",
    .memory = "3 n",
    .combines = "any score and region (no learned sink); any time behaviour but forced_forward",
    .page =
        "One key is chosen and its value is the context; in a tie the first wins. A choice has no gradient, so the "
        "scores are trained with the gradient of softmax (straight-through). This is biased, but it needs no sampling "
        "and works well when exactly one key is right.",
    .options = "",
    .make_normalise = new_normalise<kernels::Normaliser::argmax>,
};

}  // namespace heed::attend
