// N2 identity: each weight from its own score, optionally divided by the number of visible keys.
#include "heed/attend/normalise/normalise.h"

namespace heed::attend {

const Entry identity_entry = {
    .id = "N2",
    .name = "identity",
    .part = Part::normalise,
    .title = "scores as weights",
    .formula = "a_ij = e_ij,  divided by the number of visible keys with divide_by_visible",
    .paper =
        "Katharopoulos et al. 2020, Transformers are RNNs: Fast Autoregressive Transformers with Linear Attention, "
        "for attention without softmax",
    .time = "n m",
    .memory = "2 n",
    .combines = "any score and region (no learned sink); any time behaviour but forced_forward",
    .page =
        "The scores themselves are the weights, including negative ones. With a dot product the context is then linear "
        "in the query. A comparison shows what softmax contributes.",
    .options = "divide_by_visible dropout",
    .make_normalise = new_normalise<kernels::Normaliser::identity>,
};

}  // namespace heed::attend
