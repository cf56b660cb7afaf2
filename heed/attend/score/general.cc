// S4 general: score = q^T W k.   Luong, Pham and Manning 2015.
// Prepare: q' = q W, once per query; the loop's score is inner. q and k may differ in width.
// Parameters: score.weight [Dq, Dk].
#include "heed/attend/score/general.h"

namespace heed::attend {

const Entry general_entry = {
    .id = "S4",
    .name = "general",
    .part = Part::score,
    .title = "a matrix between query and key (bilinear)",
    .formula = "e_ij = q_i^T W k_j",
    .paper = "Luong, Pham and Manning 2015, Effective Approaches to Attention-based Neural Machine Translation",
    .time = "n m D + n D^2",
    .memory = "2 n + n D",
    .combines = "any normaliser, region and time behaviour; any widths",
    .page =
        "A matrix between query and key learns which features of one match which features of the other. The query is "
        "multiplied by it once, so a pair costs no more than a dot product.\n\n"
        "Use it when query and key come from different sources or have different widths.",
    .aliases = "multiplicative bilinear",
    .inner_product = true,
    .make_score = new_score<General>,
};

}  // namespace heed::attend
