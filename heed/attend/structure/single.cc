// L1 single: one query, one pass. All other structures are built from it.
#include "heed/attend/attention.h"

namespace heed::attend {

namespace {
std::unique_ptr<Mechanism> make_single(const Scope& scope, const Options& options) {
  return std::make_unique<Attention>(scope, options);
}
}  // namespace

const Entry single_entry = {
    .id = "L1",
    .name = "single",
    .part = Part::structure,
    .title = "one attention",
    .formula = "c_i = sum_j a_ij v_j",
    .paper = "Bahdanau, Cho and Bengio 2015, Neural Machine Translation by Jointly Learning to Align and Translate",
    .time = "that of the score",
    .memory = "that of the score",
    .combines = "any score, normaliser, region, time behaviour and input",
    .page = "One set of weights per query, one context. Every other structure is built from this.",
    .has_heads = true,
    .make_structure = make_single,
};

}  // namespace heed::attend
