// R3 local_p: a window around a predicted position.   Luong, Pham and Manning 2015.
//   p_t = S sigmoid(v_p^T tanh(W_p s_t))
//   a_tj = softmax_j(e_tj) exp(-(j - p_t)^2 / (2 sigma^2)) over |j - p_t| <= window,  sigma = window / 2 by default
// With over_all the softmax is over all keys, and the window and its Gaussian pick from it: the weights add up to less.
// The loop visits only the window. The gradient reaches p_t through the Gaussian, and from there v_p and W_p.
// Parameters: region.weight W_p [hidden, Dq], region.v v_p [hidden].
#include <fmt/format.h>

#include "heed/attend/region/region.h"
#include "heed/layer/linear.h"
#include "heed/tensor/op/activation.h"
#include "heed/tensor/op/arithmetic.h"

namespace heed::attend {

namespace {
class LocalP final : public Region {
 public:
  LocalP(const Scope& scope, const Options& options)
      : window_(static_cast<float>(options.window)),
        sigma_(options.sigma > 0.0f ? options.sigma : static_cast<float>(options.window) / 2.0f),
        over_all_(options.over_all),
        hidden_(scope, options.query_width, options.hidden, false),
        v_(&scope.make("v", {options.hidden}, Initialiser::xavier())) {}

  void configure(CallContext& c) const override {
    const Tensor share = sigmoid(linear(tanh(hidden_(c.query_rows)), c.tape.parameter(*v_)));  // [query rows * H, 1]
    float* lengths = c.tape.keep<float>(share.rows());
    c.each_query_row([&](int64_t row, int64_t sequence, int64_t, int64_t) {
      lengths[row] = static_cast<float>(c.key_length(sequence));
    });
    c.call.centre = c.of_rows(scale_rows(share, lengths));
    c.call.problem.region.centre_half_width = window_;
    c.call.problem.region.centre_sigma = sigma_;
    c.call.problem.region.centre_picks = over_all_;
  }

 private:
  float window_, sigma_;
  bool over_all_;
  Linear hidden_;
  Parameter* v_;
};

std::unique_ptr<Region> make_local_p(const Scope& scope, const Options& options) {
  return std::make_unique<LocalP>(scope / "region", options);
}

std::string refuse_local_p(const Options& o, const Parts&) {
  if (o.sigma < 0.0f) return fmt::format("local_p needs a sigma above 0, or 0 for window / 2, not {}", o.sigma);
  if (o.window < 1) return fmt::format("local_p needs a window of at least 1 key, not {}", o.window);
  return "";
}
}  // namespace

const Entry local_p_entry = {
    .id = "R3",
    .name = "local_p",
    .part = Part::region,
    .title = "window around a predicted position",
    .formula =
        "p_t = S sigmoid(v_p^T tanh(W_p s_t));  a_tj = softmax_j(e_tj) exp(-(j - p_t)^2 / (2 sigma^2)),  |j - p_t| <= "
        "window",
    .paper =
        "Luong, Pham and Manning 2015, Effective Approaches to Attention-based Neural Machine Translation, local-p",
    .time = "n (2 window + 1) pairs + n D H,  H = hidden",
    .memory = "n H",
    .combines = "any score, normaliser and time behaviour",
    .page =
        "The query predicts where in the source to look, as a real number. Only keys within `window` of that position "
        "count, and a Gaussian favours the centre. Through the Gaussian the gradient moves the position itself.\n\n"
        "The cost depends on the window, not on the length of the source. A key outside the window gives no gradient, "
        "so a target that starts far away may never be found: start with a wide window.\n\n"
        "With over_all the softmax is over all keys first, and the window with its Gaussian then picks from the "
        "weights: they add up to less than 1, and every key is scored, so the cost follows the length again.",
    .options = "window sigma hidden over_all",
    .instead = {.in_encoder = &global_entry, .in_decoder = &global_entry},
    .refuses = refuse_local_p,
    .make_region = make_local_p,
};

}  // namespace heed::attend
