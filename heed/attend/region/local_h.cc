// R7 local_h: a window around the hard choice.
//   p_t = argmax_j e_tj, the first of equals;   a_tj = softmax_j(e_tj) over |j - p_t| <= window
// sigma > 0: times exp(-(j - p_t)^2 / (2 sigma^2)), as local_p. The choice has no gradient: that of the scores is
// softmax's in the window. straight_through: the Gaussian pulls at p_t, and p_t is taken for sum_j softmax(e_t)_j j.
// Two passes over the scores of a row: one finds the choice among all keys, the other visits the window only, and so
// does the backward.
#include <fmt/format.h>

#include "heed/attend/region/region.h"

namespace heed::attend {

namespace {
class LocalH final : public Region {
 public:
  explicit LocalH(const Options& options)
      : window_(options.window), sigma_(options.sigma), straight_through_(options.straight_through) {}

  void configure(CallContext& c) const override {
    c.call.around_best = window_;
    c.call.straight_through = straight_through_;
    c.call.problem.region.centre_sigma = sigma_;
  }

 private:
  int64_t window_;
  float sigma_;
  bool straight_through_;
};

std::unique_ptr<Region> make_local_h(const Scope&, const Options& options) { return std::make_unique<LocalH>(options); }

std::string refuse_local_h(const Options& o, const Parts& parts) {
  if (o.sigma < 0.0f) return fmt::format("local_h needs a sigma above 0, or 0 for no Gaussian, not {}", o.sigma);
  if (o.window < 0) return fmt::format("local_h needs a window of 0 keys or more to each side, not {}", o.window);
  if (parts.has_region(local_p_entry)) return "local_h and local_p cannot be combined: each has a centre of its own";
  if (o.straight_through && o.sigma == 0.0f)
    return "straight_through needs a sigma above 0: without a Gaussian nothing changes when the centre moves a little";
  return "";
}
}  // namespace

const Entry local_h_entry = {
    .id = "R7",
    .name = "local_h",
    .part = Part::region,
    .title = "window around the hard choice",
    .formula = "p_t = argmax_j e_tj;  a_tj = softmax_j(e_tj),  |j - p_t| <= window",
    .paper =
        "between Luong, Pham and Manning 2015, Effective Approaches to Attention-based Neural Machine Translation "
        "(local) and Xu et al. 2015, Show, Attend and Tell (hard)",
    .time = "n m scores for the choice + n (2 window + 1) pairs",
    .memory = "n H",
    .combines = "any score, normaliser and time behaviour; not local_p",
    .page =
        "First the best key is found as hard attention finds it, then attention is soft in a window around it. Nothing "
        "has to be learned for the place, unlike local_p, and neighbours of the best key still count, unlike hard.\n\n"
        "The scores have the gradient of softmax in the window; the choice itself has none, so what lies outside the "
        "window learns nothing. With sigma a Gaussian favours the centre, and with straight_through it also moves it: "
        "the gradient takes p_t for the expected position under softmax over all keys. This is biased, as "
        "straight-through gradients are.",
    .options = "window sigma straight_through",
    .instead = {},
    .refuses = refuse_local_h,
    .make_region = make_local_h,
};

}  // namespace heed::attend
