// S2 scaled_dot: score = q . k / sqrt(D).   Vaswani et al. 2017.
// Maps directly to the loop: inner with scale 1 / sqrt(D). No parameters, nothing to prepare.
#include <cmath>

#include "heed/attend/score/score.h"

namespace heed::attend {

namespace {
class ScaledDot final : public Score {
 public:
  ScaledDot(const Scope&, const Options& options) : width_(options.key_width) {}
  void configure(CallContext& c) const override {
    c.call.problem.score.kind = kernels::ScoreKind::inner;
    c.call.problem.score.scale = 1.0f / std::sqrt(static_cast<float>(width_));
  }

 private:
  int64_t width_;
};
}  // namespace

const Entry scaled_dot_entry = {
    .id = "S2",
    .name = "scaled_dot",
    .part = Part::score,
    .title = "scaled dot product",
    .formula = "e_ij = q_i . k_j / sqrt(D)",
    .paper = "Vaswani et al. 2017, Attention Is All You Need",
    .time = "n m D",
    .memory = "2 n",
    .combines = "any normaliser, region and time behaviour; query and key of one width",
    .page =
        "The dot product divided by the square root of the width, so that scores have the same spread for any width "
        "and softmax does not saturate. The score of the Transformer, and the default here.",
    .inner_product = true,
    .refuses = refuse_unequal_widths,
    .make_score = new_score<ScaledDot>,
};

}  // namespace heed::attend
