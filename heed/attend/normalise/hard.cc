// N3 hard: weight 1 on the best key, the first of equals. Straight-through gradient: as if it had been softmax.
#include "heed/attend/normalise/normalise.h"

namespace heed::attend {

const Entry hard_entry = {
    .id = "N3",
    .name = "hard",
    .part = Part::normalise,
    .title = "hard: the best key alone",
    .formula = "a_ij = 1 for j = argmax e_i, else 0;  gradient as of softmax",
    .paper =
        "Xu et al. 2015, Show, Attend and Tell: Neural Image Caption Generation with Visual Attention; the gradient: "
        "Bengio, Leonard and Courville 2013, Estimating or Propagating Gradients Through Stochastic Neurons for "
        "Conditional Computation",
    .time = "n m",
    .memory = "3 n",
    .combines = "any score and region (no learned sink); any time behaviour but forced_forward",
    .page =
        "One key is chosen and its value is the context; of equal scores the first wins. A choice has no gradient, so "
        "the scores are trained as if softmax had been there (the straight-through gradient): biased, but it needs no "
        "sampling and works well where one key is right.",
    .options = "",
    .make_normalise = new_normalise<kernels::Normaliser::argmax>,
};

}  // namespace heed::attend
