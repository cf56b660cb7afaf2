// R1 global: every key of the sequence.
#include "heed/attend/region/region.h"

namespace heed::attend {

namespace {
class Global final : public Region {
 public:
  explicit Global(const Options&) {}
  void configure(CallContext&) const override {}
};

std::unique_ptr<Region> make_global(const Scope&, const Options& options) { return std::make_unique<Global>(options); }
}  // namespace

const Entry global_entry = {
    .id = "R1",
    .name = "global",
    .part = Part::region,
    .title = "all keys",
    .formula = "j in [0, m)",
    .paper = "Luong, Pham and Manning 2015, Effective Approaches to Attention-based Neural Machine Translation",
    .time = "n m pairs",
    .memory = "nothing",
    .combines = "any score, normaliser and time behaviour",
    .page = "Every query sees every key of its sequence. The default.",
    .options = "",
    .limits_nothing = true,
    .make_region = make_global,
};

}  // namespace heed::attend
