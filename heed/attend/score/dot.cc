// S1 dot: score = q . k.   Luong, Pham and Manning 2015.
// Maps directly to the loop: inner with scale 1. No parameters, nothing to prepare.
#include "heed/attend/score/score.h"

namespace heed::attend {

namespace {
class Dot final : public Score {
 public:
  Dot(const Scope&, const Options&) {}
  void configure(CallContext& c) const override {
    c.call.problem.score.kind = kernels::ScoreKind::inner;
    c.call.problem.score.scale = 1.0f;
  }
};
}  // namespace

const Entry dot_entry = {
    .id = "S1",
    .name = "dot",
    .part = Part::score,
    .title = "dot product",
    .formula = "e_ij = q_i . k_j",
    .paper = "Luong, Pham and Manning 2015, Effective Approaches to Attention-based Neural Machine Translation",
    .time = "n m D",
    .memory = "2 n",
    .combines = "any normaliser, region and time behaviour; query and key of one width",
    .page =
        "The simplest comparison: how far do query and key point in the same direction? Long vectors score higher than "
        "short ones, and the sum grows with the width, so softmax soon puts nearly all weight on one key.\n\n"
        "Use it when both sides are narrow and trained together; use scaled_dot when they are wide.",
    .inner_product = true,
    .refuses = refuse_unequal_widths,
    .make_score = new_score<Dot>,
};

}  // namespace heed::attend
