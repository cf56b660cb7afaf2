// N2 sigmoid: each weight from its own score, optionally divided by the number of visible keys.
#include "heed/attend/normalise/normalise.h"

namespace heed::attend {

const Entry sigmoid_entry = {
    .id = "N2",
    .name = "sigmoid",
    .part = Part::normalise,
    .title = "sigmoid of scores",
    .formula = "a_ij = 1 / (1 + exp(-e_ij)),  divided by the number of visible keys with divide_by_visible",
    .paper = "Ramapuram et al. 2024, Theory, Analysis, and Best Practices for Sigmoid Self-Attention",
    .time = "n m",
    .memory = "2 n",
    .combines = "any score and region (no learned sink); any time behaviour but forced_forward",
    .page =
        "Each key gets a weight between 0 and 1, independent of the others, so keys do not compete. With "
        "divide_by_visible the context does not grow with the memory.",
    .options = "divide_by_visible dropout",
    .make_normalise = new_normalise<kernels::Normaliser::sigmoid>,
};

}  // namespace heed::attend
