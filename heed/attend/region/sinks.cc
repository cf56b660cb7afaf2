// R6 sinks: first keys that no window hides, and a learned score that takes weight but has no value.
//   Xiao et al. 2024, Efficient Streaming Language Models with Attention Sinks; Miller 2023, Attention Is Off By One.
// Parameters: sink [H] with learned_sink.
#include <fmt/format.h>

#include "heed/attend/region/region.h"

namespace heed::attend {

namespace {
class Sinks final : public Region {
 public:
  Sinks(const Scope& scope, const Options& options) : count_(options.sinks) {
    if (options.learned_sink) sink_ = &scope.make("sink", {options.heads}, Initialiser::constant(0.0f));
  }
  void configure(CallContext& c) const override {
    c.call.problem.region.always_visible = count_;
    if (sink_) c.call.sink = c.tape.parameter(*sink_);
  }

 private:
  int64_t count_;
  Parameter* sink_ = nullptr;
};

std::unique_ptr<Region> make_sinks(const Scope& scope, const Options& options) {
  return std::make_unique<Sinks>(scope, options);
}

std::string refuse_bad_sinks(const Options& o, const Parts& parts) {
  if (o.sinks < 0) return fmt::format("sinks must be 0 or more, not {}", o.sinks);
  if (o.sinks == 0 && !o.learned_sink)
    return "region sinks keeps the first keys visible: set sinks to 1 or more (4 is usual), or learned_sink to true";
  if (o.learned_sink && !parts.normalise->sums_exp)
    return fmt::format("learned_sink takes a share of softmax and has no effect with normalise = \"{}\"", o.normalise);
  if (o.learned_sink && parts.time == &forced_forward_entry)
    return "learned_sink cannot be combined with forced_forward: a sink has no column of earlier scores";
  return "";
}
}  // namespace

const Entry sinks_entry = {
    .id = "R6",
    .name = "sinks",
    .part = Part::region,
    .title = "first keys that no window hides",
    .formula = "j < sinks or j in the window;  learned: a_ij = exp(e_ij) / (exp(s_h) + sum_l exp(e_il))",
    .paper =
        "Xiao et al. 2024, Efficient Streaming Language Models with Attention Sinks; a learned sink: Miller 2023, "
        "Attention Is Off By One",
    .time = "n sinks pairs more",
    .memory = "nothing",
    .combines = "sliding_window, local_m and documents; a learned sink with softmax only",
    .page =
        "Models put spare attention on the first tokens. If a window hides those, the model breaks, so the first "
        "`sinks` keys stay visible. With learned_sink each head has a learned score that takes weight but has no "
        "value: a head with nothing to contribute can stay silent.\n\n"
        "By default the name means a sliding window with 4 sinks.",
    .options = "sinks learned_sink",
    .preset =
        [](Options& o) {
          o.region = "sliding_window+sinks";
          if (o.sinks == 0) o.sinks = 4;
        },
    .order_matters = true,
    .instead = {.to_source = &global_entry},
    .refuses = refuse_bad_sinks,
    .make_region = make_sinks,
};

}  // namespace heed::attend
