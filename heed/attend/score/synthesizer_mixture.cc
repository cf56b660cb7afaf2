// L9 synthesizer_mixture: a learned mix of dot, dense and random scores.   Tay et al. 2021.
//   a = softmax(mix),  e_ij = a_0 q_i . k_j / sqrt(D) + a_1 dense_ij + a_2 R_ij
// a_0 multiplies q', the other two are biases: one run of the loop for all three.
// Parameters: those of the dense and the random Synthesizer, and score.mix [3].
#include <cmath>

#include "heed/attend/score/synthesizer.h"
#include "heed/tensor/op/arithmetic.h"
#include "heed/tensor/op/arrange.h"
#include "heed/tensor/op/softmax.h"

namespace heed::attend {

namespace {
class SynthesizerMixture final : public Score {
 public:
  SynthesizerMixture(const Scope& scope, const Options& options)
      : dense_(scope, options),
        random_(scope, options),
        mix_(&scope.make("mix", {3}, Initialiser::constant(0.0f))),
        max_length_(options.max_length),
        width_(options.key_width) {}
  Tensor queries(Tensor q) const override { return scale(q, share(q.tape(), 0)); }
  void configure(CallContext& c) const override {
    check_length(c, "synthesizer_mixture", max_length_);
    c.call.problem.score.kind = kernels::ScoreKind::inner;
    c.call.problem.score.scale = 1.0f / std::sqrt(static_cast<float>(width_));
    c.add_bias(scale(dense_(c.query_rows), share(c.tape, 1)), BiasRows::query_and_head);
    c.add_bias(scale(random_.table(c.tape), share(c.tape, 2)), BiasRows::table);
  }

 private:
  Tensor share(Tape& tape, int64_t which) const { return columns(softmax_rows(tape.parameter(*mix_)), which, 1); }

  DenseRows dense_;
  RandomTable random_;
  Parameter* mix_;
  int64_t max_length_;
  int64_t width_;
};

std::string refuse_mixture(const Options& o, const Parts& parts) {
  const std::string reason = refuse_synthesizer(o, parts);
  return reason.empty() ? refuse_unequal_widths(o, parts) : reason;
}
}  // namespace

const Entry synthesizer_mixture_entry = {
    .id = "L9",
    .name = "synthesizer_mixture",
    .part = Part::score,
    .title = "learned mix of dot, dense and random",
    .formula = "e_ij = a_0 q_i . k_j / sqrt(D) + a_1 dense_ij + a_2 R_ij,  a = softmax(mix)",
    .paper = "Tay et al. 2021, Synthesizer: Rethinking Self-Attention for Transformer Models",
    .time = "n m D + n D H + n H max_length,  H = hidden",
    .memory = "3 n max_length",
    .combines = "any normaliser, region and time behaviour; heads; query and key of one width",
    .page =
        "Dot product, dense and random Synthesizer together, with three learned shares that say how much each counts. "
        "After training, the shares show which of them the task needed.",
    .options = "hidden max_length fixed_table",
    .order_matters = true,
    .instead = {.to_source = &scaled_dot_entry},
    .inner_product = true,
    .longest_memory = &Options::max_length,
    .refuses = refuse_mixture,
    .make_score = new_score<SynthesizerMixture>,
};

}  // namespace heed::attend
