// S6 mlp: a network with one or more hidden layers on the pair.
// Prepare: as additive. With one tanh layer it is additive and runs as such; otherwise the loop's pair_mlp computes the
// hidden layers tile by tile.
#include <fmt/format.h>

#include "heed/attend/choices.h"
#include "heed/attend/score/additive.h"

namespace heed::attend {

namespace {
std::string needs_a_network(const Options& o, const Parts&) {
  if (o.depth < 1 || o.depth > 8) return fmt::format("mlp needs depth from 1 to 8, not {}", o.depth);
  if (!has_word(kActivations, o.activation))
    return fmt::format("mlp has the activations {}, not '{}'", listed(words_of(kActivations)), o.activation);
  return "";
}
}  // namespace

const Entry mlp_entry = {
    .id = "S6",
    .name = "mlp",
    .part = Part::score,
    .title = "several hidden layers on the pair",
    .formula = "e_ij = v^T h_n,  h_1 = act(W1 k_j + W2 q_i + b),  h_(l+1) = act(W_l h_l + b_l)",
    .paper =
        "Bahdanau, Cho and Bengio 2015, Neural Machine Translation by Jointly Learning to Align and Translate, for "
        "one hidden layer; Zhou et al. 2018, Deep Interest Network for Click-Through Rate Prediction, for more",
    .time = "n m (H + (depth - 1) H^2),  H = hidden",
    .memory = "2 n + (n + m) H",
    .combines = "any normaliser, region and time behaviour; any widths",
    .page =
        "More layers than additive: the score can depend on query and key in ways that no sum of one-layer features "
        "can express. The hidden layers differ for every pair, so this is the most expensive score; they are computed "
        "block by block and never stored.\n\n"
        "With depth 1 and tanh it equals additive, number for number. By default the name means two hidden layers "
        "(depth = 2).",
    .options = "hidden depth activation",
    .preset =
        [](Options& o) {
          if (o.depth == 1) o.depth = 2;
        },
    .refuses = needs_a_network,
    .make_score = new_score<PairNetwork>,
};

}  // namespace heed::attend
