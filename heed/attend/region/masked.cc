// R5 masked: what the lengths and the mask of a call leave. They are applied by every region; this one adds nothing.
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
        "Padding and any boolean mask. Lengths and masks come with the call, not with the model: Memory::lengths, "
        "Queries::mask, or `key_lengths` and `mask` in Python; every region respects them, and this name says that "
        "nothing else limits the view.\n\n"
        "A packed batch needs neither: there is no padding in it. A query that sees no key gives zeros.",
    .options = "",
    .instead = {.to_source = &global_entry},
    .make_region = make_masked,
};

}  // namespace heed::attend
