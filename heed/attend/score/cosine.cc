// S3 cosine: score = temperature * q . k / (|q| |k|).   Graves, Wayne and Danihelka 2014.
// Prepare: every row is scaled to length 1, once per token; the loop's score is inner. A zero row stays zero, with
// gradient 0. Parameters: score.temperature [1] if it is learned; it multiplies q', so its gradient comes with that of
// q.
#include "heed/attend/score/score.h"
#include "heed/tensor/op/arithmetic.h"
#include "heed/tensor/op/norm.h"

namespace heed::attend {

namespace {
class Cosine final : public Score {
 public:
  Cosine(const Scope& scope, const Options& options) : fixed_(options.temperature) {
    if (options.learned_temperature)
      temperature_ = &scope.make("temperature", {1}, Initialiser::constant(options.temperature));
  }
  Tensor queries(Tensor q) const override {
    const Tensor unit = unit_rows(q);
    return temperature_ ? scale(unit, q.tape().parameter(*temperature_)) : unit;
  }
  Tensor keys(Tensor k) const override { return unit_rows(k); }
  void configure(CallContext& c) const override {
    c.call.problem.score.kind = kernels::ScoreKind::inner;
    c.call.problem.score.scale = temperature_ ? 1.0f : fixed_;
  }

 private:
  float fixed_;
  Parameter* temperature_ = nullptr;
};
}  // namespace

const Entry cosine_entry = {
    .id = "S3",
    .name = "cosine",
    .part = Part::score,
    .title = "cosine of the angle",
    .formula = "e_ij = temperature q_i . k_j / (|q_i| |k_j|)",
    .paper = "Graves, Wayne and Danihelka 2014, Neural Turing Machines",
    .time = "n m D + (n + m) D",
    .memory = "2 n + (n + m) D",
    .combines = "any normaliser, region and time behaviour; query and key of one width",
    .page =
        "Only the direction counts, not the length of a vector. Scores lie between -1 and 1, too close together for "
        "softmax to choose between them, so a temperature above 1 is usual (learned_temperature = true, temperature = "
        "10).\n\n"
        "A vector of zeros has no direction: its score is 0 and it gets no gradient.",
    .options = "temperature learned_temperature",
    .inner_product = true,
    .refuses = refuse_unequal_widths,
    .make_score = new_score<Cosine>,
};

}  // namespace heed::attend
