// R5 masked: the keys that the lengths and the mask of a call allow. Every region applies them; this one adds nothing.
#include "heed/attend/region/region.h"

namespace heed::attend {

namespace {
class Masked final : public Region {
 public:
  explicit Masked(const Options&) {}
  void configure(CallContext&) const override {}
};

std::unique_ptr<Region> make_masked(const Scope&, const Options& options) { return std::make_unique<Masked>(options); }
}  // namespace

const Entry masked_entry = {
    .id = "R5",
    .name = "masked",
    .part = Part::region,
    .title = "lengths and masks",
    .formula = "j with mask_ij and j < length",
    .paper = "Vaswani et al. 2017, Attention Is All You Need",
    .time = "n m pairs; blocks that the lengths rule out are never visited",
    .memory = "nothing",
    .combines = "any score, normaliser and time behaviour, and with every other region",
    .page =
        "Padding and any boolean mask. Lengths and masks are passed with the call, not stored in the model: "
        "Memory::lengths, Queries::mask, or `key_lengths` and `mask` in Python. Every region respects them; this name "
        "means that there is no other limit.\n\n"
        "A packed batch needs neither, because it has no padding. A query that sees no key gives zeros.",
    .options = "",
    .instead = {.to_source = &global_entry},
    .limits_nothing = true,
    .make_region = make_masked,
};

}  // namespace heed::attend
