// T3 forced_forward (temporal): keys that got attention before count less.   Paulus, Xiong and Socher 2018.
//   e'_ti = exp(e_ti) for t = 1, exp(e_ti) / sum_{j<t} exp(e_ji) after;  then normalised over i
// In the log domain: e_ti minus the running log-sum-exp of its column, which is the state between steps.
#include <fmt/format.h>

#include "heed/attend/time/time.h"
#include "heed/base/error.h"

namespace heed::attend {

namespace {
class ForcedForward final : public Time {
 public:
  void configure(CallContext& c, const Request&) const override {
    c.call.problem.forced_forward.on = true;
    c.call.column_lse = c.state.columns(c.tape);
  }
  void keep(const AttentionResult& result, State& next) const override { next.set_columns(result.column_lse); }
};

std::unique_ptr<Time> make_forced_forward(const Scope&, const Options&) { return std::make_unique<ForcedForward>(); }

std::string refuse_forced_forward(const Options& o, const Parts& parts) {
  if (parts.normalise->sums_exp) return "";
  return fmt::format(
      "forced_forward divides by the exp of earlier scores, so it needs normalise = \"softmax\", not \"{}\"",
      o.normalise);
}
}  // namespace

const Entry forced_forward_entry = {
    .id = "T3",
    .name = "forced_forward",
    .part = Part::time,
    .title = "earlier attention counts against a key (temporal)",
    .formula = "e'_ti = exp(e_ti) / sum_{u<t} exp(e_ui)  (t = 1: exp(e_ti)),  a_ti = e'_ti / sum_l e'_tl",
    .paper =
        "Sankaran et al. 2016, Temporal Attention Model for Neural Machine Translation; Paulus, Xiong and Socher "
        "2018, A Deep Reinforced Model for Abstractive Summarization",
    .time = "n m exp more",
    .memory = "n m / 96",
    .combines = "any score and region; softmax; no learned sink",
    .page =
        "A key that has received much attention counts less in all later steps, which pushes the model towards what it "
        "has not read yet. The running sums are the state between steps; they are kept as logarithms, so no score can "
        "overflow them, and gradients flow through them.",
    .aliases = "temporal",
    .order_matters = true,
    .instead = {.in_encoder = &dynamic_entry, .in_decoder = &dynamic_entry},
    .refuses = refuse_forced_forward,
    .make_time = make_forced_forward,
};

}  // namespace heed::attend
