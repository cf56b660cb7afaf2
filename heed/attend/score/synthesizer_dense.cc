// L7 synthesizer_dense: A = softmax(W2 relu(W1 x_i + b1) + b2).   Tay et al. 2021.
// Maps to the loop with no pair score at all: each query's row is a bias, truncated to the length of the memory.
#include "heed/attend/score/synthesizer.h"

namespace heed::attend {

namespace {
class SynthesizerDense final : public Score {
 public:
  SynthesizerDense(const Scope& scope, const Options& options)
      : rows_(scope, options), max_length_(options.max_length) {}
  bool reads_pairs() const override { return false; }
  void configure(CallContext& c) const override {
    check_length(c, "synthesizer_dense", max_length_);
    c.call.problem.score.kind = kernels::ScoreKind::none;
    c.add_bias(rows_(c.query_rows), BiasRows::query_and_head);
  }

 private:
  DenseRows rows_;
  int64_t max_length_;
};
}  // namespace

const Entry synthesizer_dense_entry = {
    .id = "L7",
    .name = "synthesizer_dense",
    .part = Part::score,
    .title = "each token computes its row of scores",
    .formula = "e_ij = (W2 relu(W1 x_i + b1) + b2)_j",
    .paper = "Tay et al. 2021, Synthesizer: Rethinking Self-Attention for Transformer Models",
    .time = "n m + n D H + n H max_length,  H = hidden",
    .memory = "n max_length",
    .combines = "any normaliser, region and time behaviour; heads",
    .page =
        "Each token computes its own row of scores, one for every position, from itself alone: no keys, no dot "
        "products. The row is truncated to the actual length; a memory longer than max_length is refused, because it "
        "has no scores.",
    .options = "hidden max_length",
    .order_matters = true,
    .instead = {.to_source = &scaled_dot_entry},
    .longest_memory = &Options::max_length,
    .refuses = refuse_synthesizer,
    .make_score = new_score<SynthesizerDense>,
};

}  // namespace heed::attend
