// S9 intra: score = h_t^T W h_i over earlier i only.   Paulus, Xiong and Socher 2018.
// General attention of a sequence to its own past: the region is causal in its strict form.
// Parameters: score.weight [Dq, Dk].
#include "heed/attend/score/general.h"

namespace heed::attend {

namespace {
std::string needs_the_past_only(const Options& o, const Parts& parts) {
  if (parts.has_region(causal_entry) && o.strict) return "";
  return "intra looks at earlier rows only: set region = \"causal\" and strict = true, or use general, the same score "
         "without this limit";
}
}  // namespace

const Entry intra_entry = {
    .id = "S9",
    .name = "intra",
    .part = Part::score,
    .title = "intra-attention over the past",
    .formula = "e_ti = h_t^T W h_i,  i < t",
    .paper = "Paulus, Xiong and Socher 2018, A Deep Reinforced Model for Abstractive Summarization",
    .time = "n^2 D / 2 + n D^2",
    .memory = "2 n + n D",
    .combines = "any normaliser and time behaviour; region causal (strict), alone or with windows",
    .page =
        "A decoder looks back at its own earlier states, and so at what it has already written. This keeps summaries "
        "from repeating themselves. The first step has no past and gets a context of zeros.",
    .preset =
        [](Options& o) {
          o.region = "causal";
          o.strict = true;
          o.input = "self_attention";
          o.project = false;
        },
    .instead = {.in_encoder = &general_entry, .to_source = &general_entry},
    .inner_product = true,
    .past_only = true,
    .refuses = needs_the_past_only,
    .make_score = new_score<General>,
};

}  // namespace heed::attend
