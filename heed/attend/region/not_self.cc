// R8 not_self: all keys but the query's own.
#include "heed/attend/region/region.h"

namespace heed::attend {

namespace {
class NotSelf final : public Region {
 public:
  explicit NotSelf(const Options&) {}
  void configure(CallContext& c) const override { c.call.problem.region.not_self = true; }
};

std::unique_ptr<Region> make_not_self(const Scope&, const Options& options) {
  return std::make_unique<NotSelf>(options);
}
}  // namespace

const Entry not_self_entry = {
    .id = "R8",
    .name = "not_self",
    .part = Part::region,
    .title = "all keys but the query's own",
    .formula = "j != t",
    .paper =
        "compare Shen et al. 2018, DiSAN: Directional Self-Attention Network for RNN/CNN-Free Language "
        "Understanding, where the diagonal is masked",
    .time = "n m pairs",
    .memory = "nothing",
    .combines = "any score, normaliser and time behaviour; with causal it is causal with strict",
    .page =
        "A position asks all others, but not itself: what a token is must follow from its neighbours, and the weight "
        "that often stays on the own key goes to others. The residual of a block still carries the token itself. A "
        "sequence of one token sees nothing and gets zeros.",
    .options = "",
    .order_matters = true,
    .instead = {.to_source = &global_entry},
    .make_region = make_not_self,
};

}  // namespace heed::attend
