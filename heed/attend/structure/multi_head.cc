// L3 multi_head: head_i = attend(Q W_i^Q, K W_i^K, V W_i^V), concatenated, then W^O.   Vaswani et al. 2017.
// The heads are side by side in one projection and never mix before W^O; the loop reads them through strides.
// Parameters: query, key, value, output .weight and .bias.
#include "heed/attend/attention.h"

namespace heed::attend {

namespace {
std::unique_ptr<Mechanism> make_multi_head(const Scope& scope, const Options& options) {
  return std::make_unique<Attention>(scope, options);
}
}  // namespace

const Entry multi_head_entry = {
    .id = "L3",
    .name = "multi_head",
    .part = Part::structure,
    .title = "several heads side by side",
    .formula = "head_h = attend(Q W_h^Q, K W_h^K, V W_h^V),  c = [head_1; ..; head_H] W^O",
    .paper =
        "Vaswani et al. 2017, Attention Is All You Need; shared key and value heads: Shazeer 2019, Fast Transformer "
        "Decoding: One Write-Head is All You Need, and Ainslie et al. 2023, GQA: Training Generalized Multi-Query "
        "Transformer Models from Multi-Head Checkpoints",
    .time = "that of the score + 2 (n + m) D^2",
    .memory = "that of the score + 2 (n + m) D",
    .combines = "any score, normaliser, region, time behaviour and input; kv_heads from 1 to heads",
    .page =
        "Several attentions in parallel, each on its own projection of the rows, so that one token can look at several "
        "others for different reasons. With kv_heads below heads, groups of heads share keys and values: less to "
        "compute, and much less to store while decoding.\n\n"
        "A score with parameters (additive, general and so on) shares them between the heads; the projections differ. "
        "By default the name means 4 heads.",
    .options = "heads kv_heads width output_width",
    .preset =
        [](Options& o) {
          if (o.heads == 1) o.heads = 4;
          o.project = o.project_output = true;
        },
    .has_heads = true,
    .make_structure = make_multi_head,
};

}  // namespace heed::attend
