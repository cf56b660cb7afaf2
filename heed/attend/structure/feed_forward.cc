// L6 feed_forward: e_t = a(h_t), softmax over t, c = sum alpha_t h_t.   Raffel and Ellis 2015.
// A sequence to one vector: the self_scored score in its linear form, with one implicit query per sequence. Parameters:
// score.weight [1, D], score.bias [1].
#include <fmt/format.h>

#include "heed/attend/attention.h"

namespace heed::attend {

namespace {
std::unique_ptr<Mechanism> make_feed_forward(const Scope& scope, const Options& options) {
  return std::make_unique<Attention>(scope, options);
}
std::string refuse_another_score(const Options& o, const Parts& parts) {
  if (parts.score != &self_scored_entry)
    return fmt::format(
        "feed_forward attention has no query, so score = \"{}\" has nothing to compare with; it needs self_scored",
        o.score);
  if (parts.input != &external_entry || parts.time->own_queries || parts.time->step_by_step)
    return "feed_forward attention has no query: input must be \"external\" and time must not be static or "
           "forward_only";
  return "";
}
}  // namespace

const Entry feed_forward_entry = {
    .id = "L6",
    .name = "feed_forward",
    .part = Part::structure,
    .title = "a sequence to one vector",
    .formula = "e_t = tanh(w^T h_t + b),  c = sum_t softmax(e)_t h_t",
    .paper = "Raffel and Ellis 2015, Feed-Forward Networks with Attention Can Solve Some Long-Term Memory Problems",
    .time = "m D",
    .memory = "m",
    .combines = "self_scored in both forms; any normaliser; global and masked regions make sense",
    .page =
        "Each state decides how much it matters, and the weighted mean represents the whole sequence: pooling that "
        "learns what to keep.",
    .options = "form hidden",
    .preset =
        [](Options& o) {
          o.score = "self_scored";
          o.form = "linear";
        },
    .own_queries = true,
    .only_score = &self_scored_entry,
    .in_heads_instead = "score = \"self_scored\" weighs keys in the same way",
    .refuses = refuse_another_score,
    .make_structure = make_feed_forward,
};

}  // namespace heed::attend
