// R6 sliding_window: the last `window` keys and the one at the query's own position.   Beltagy, Peters and Cohan 2020.
#include "heed/attend/region/region.h"

namespace heed::attend {

namespace {
class SlidingWindow final : public Region {
 public:
  explicit SlidingWindow(const Options& options) : window_(options.window) {}
  void configure(CallContext& c) const override {
    narrow(c.call.problem.region.window_left, window_);
    narrow(c.call.problem.region.window_right, 0);
  }

 private:
  int64_t window_;
};

std::unique_ptr<Region> make_slidingwindow(const Scope&, const Options& options) {
  return std::make_unique<SlidingWindow>(options);
}
}  // namespace

const Entry sliding_window_entry = {
    .id = "R6",
    .name = "sliding_window",
    .part = Part::region,
    .title = "the last keys before the query",
    .formula = "t - window <= j <= t",
    .paper = "Beltagy, Peters and Cohan 2020, Longformer: The Long-Document Transformer",
    .time = "n (window + 1) pairs",
    .memory = "nothing",
    .combines = "any score, normaliser and time behaviour; often with sinks",
    .page =
        "Each position sees itself and the `window` keys before it. Stacked layers see further, so a long text is "
        "processed at a cost that grows with its length and not with its square.",
    .options = "window",
    .order_matters = true,
    .instead = {.to_source = &global_entry},
    .refuses = refuse_no_window,
    .make_region = make_slidingwindow,
};

}  // namespace heed::attend
