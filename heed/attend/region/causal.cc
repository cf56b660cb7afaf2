// R4 causal: key j <= query i; strict: j < i.
#include "heed/attend/region/region.h"

namespace heed::attend {

namespace {
class Causal final : public Region {
 public:
  explicit Causal(const Options& options) : strict_(options.strict) {}
  void configure(CallContext& c) const override {
    c.call.problem.region.causal = true;
    c.call.problem.region.strict = strict_;
  }

 private:
  bool strict_;
};

std::unique_ptr<Region> make_causal(const Scope&, const Options& options) { return std::make_unique<Causal>(options); }
}  // namespace

const Entry causal_entry = {
    .id = "R4",
    .name = "causal",
    .part = Part::region,
    .title = "no looking ahead",
    .formula = "j <= t,  or j < t with strict",
    .paper = "Vaswani et al. 2017, Attention Is All You Need",
    .time = "n m / 2 pairs",
    .memory = "nothing",
    .combines = "any score, normaliser and time behaviour",
    .page =
        "A position sees itself and earlier positions, never later ones. This lets a decoder train on all positions at "
        "once and then generate one token at a time. With strict a position does not see itself either, and the first "
        "row gets zeros.",
    .options = "strict",
    .order_matters = true,
    .instead = {.to_source = &global_entry},
    .make_region = make_causal,
};

}  // namespace heed::attend
