// S8 self_scored: e_i = v^T tanh(W h_i), or tanh(w^T h_i + b).   Raffel and Ellis 2015; Yang et al. 2016.
// Prepare: the score of a key is one number, computed once per key; it is k' of width 1, and q' = 1.
// Parameters: form vector: score.weight [hidden, Dk], score.v [hidden]; form linear: score.weight [1, Dk], score.bias
// [1].
#include "heed/attend/score/self_scored.h"

#include <fmt/format.h>

#include "heed/attend/choices.h"
#include "heed/tensor/op/activation.h"
#include "heed/tensor/op/linear.h"

namespace heed::attend {

SelfScored::SelfScored(const Scope& scope, const Options& options) {
  if (value_of(kForms, options.form) == Form::linear) {
    hidden_ = Linear(scope, options.key_width, 1);
  } else {
    hidden_ = Linear(scope, options.key_width, options.hidden, false);
    v_ = &scope.make("v", {options.hidden}, Initialiser::xavier());
  }
}

Tensor SelfScored::queries(Tensor q) const { return q.tape().filled(q.rows(), 1, 1.0f); }

Tensor SelfScored::keys(Tensor k) const {
  const Tensor h = tanh(hidden_(k));
  return v_ ? linear(h, k.tape().parameter(*v_)) : h;
}

void SelfScored::configure(CallContext& c) const {
  c.call.problem.score.kind = kernels::ScoreKind::inner;
  c.call.problem.score.scale = 1.0f;
}

namespace {
std::string needs_a_form(const Options& o, const Parts&) {
  if (has_word(kForms, o.form)) return "";
  return fmt::format("self_scored has the forms {}, not '{}'", listed(words_of(kForms)), o.form);
}
}  // namespace

const Entry self_scored_entry = {
    .id = "S8",
    .name = "self_scored",
    .part = Part::score,
    .title = "the key alone decides",
    .formula = "e_i = v^T tanh(W h_i),  or  e_i = tanh(w^T h_i + b)",
    .paper =
        "Lin et al. 2017, A Structured Self-Attentive Sentence Embedding, for the vector form; Raffel and Ellis 2015, "
        "Feed-Forward Networks with Attention Can Solve Some Long-Term Memory Problems, for the linear form",
    .time = "m D H + n m,  H = hidden",
    .memory = "2 n + m H",
    .combines = "any normaliser, region and time behaviour; the query is not used",
    .page =
        "There is no query: each row of the memory decides by itself how important it is. All queries would get the "
        "same scores, so one per sequence is enough. Use it to turn a sentence into one vector.",
    .options = "hidden form",
    .refuses = needs_a_form,
    .make_score = new_score<SelfScored>,
};

}  // namespace heed::attend
