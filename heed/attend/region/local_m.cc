// R2 local_m: the window [t - D, t + D].   Luong, Pham and Manning 2015.
#include "heed/attend/region/region.h"

namespace heed::attend {

namespace {
class LocalM final : public Region {
 public:
  explicit LocalM(const Options& options) : window_(options.window) {}
  void configure(CallContext& c) const override {
    narrow(c.call.problem.region.window_left, window_);
    narrow(c.call.problem.region.window_right, window_);
  }

 private:
  int64_t window_;
};

std::unique_ptr<Region> make_localm(const Scope&, const Options& options) { return std::make_unique<LocalM>(options); }
}  // namespace

const Entry local_m_entry = {
    .id = "R2",
    .name = "local_m",
    .part = Part::region,
    .title = "window around the step",
    .formula = "|j - t| <= window",
    .paper =
        "Luong, Pham and Manning 2015, Effective Approaches to Attention-based Neural Machine Translation, local-m",
    .time = "n (2 window + 1) pairs",
    .memory = "nothing",
    .combines = "any score, normaliser and time behaviour",
    .page =
        "At step t only the keys within `window` of position t count, assuming that source and target are roughly "
        "aligned. The cost depends on the window, not on the length.",
    .options = "window",
    .order_matters = true,
    .instead = {.to_source = &global_entry},
    .refuses = refuse_no_window,
    .make_region = make_localm,
};

}  // namespace heed::attend
