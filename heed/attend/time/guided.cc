// T4 guided: a cost that pulls the attention towards the diagonal.   Tachibana, Uenoyama and Aihara 2018.
//   cost = sum_ij A_ij G_ij,  G_ij = 1 - exp(-(i/Tq - j/Tk)^2 / (2 g^2))
// The loop computes the cost together with the context, and its gradient together with the others. A
// sequence-to-sequence model adds it to its loss, times guide_weight; elsewhere the caller decides its weight.

#include "heed/attend/decay.h"
#include "heed/attend/time/time.h"
#include "heed/base/error.h"
#include "heed/kernels/exact_math.h"

namespace heed::attend {

namespace {
class Guided final : public Time {
 public:
  explicit Guided(const Options& options) : sigma_(options.guide_sigma) {}

  void configure(CallContext& c, const Request& request) const override {
    if (!request.guide_cost) return;
    c.call.want_guide_cost = true;
    if (!c.state.target_lengths()) {
      expect(c.state.step() == 0,
             "guided: step by step, i / Tq needs the final length of each target: set State::target_lengths");
      c.call.problem.guide.sigma = sigma_;
      return;
    }
    // Step by step: the rows of G for these steps, from the final lengths of the targets.
    const int64_t keys = c.longest_memory();
    float* costs = c.tape.keep<float>(c.query_count() * keys);
    const Offsets& o = c.call.query_offsets;
    for (int64_t b = 0; b < o.count; ++b)
      for (int64_t i = o.at[b]; i < o.at[b + 1]; ++i)
        for (int64_t j = 0; j < keys; ++j)
          costs[i * keys + j] = cost(i - o.at[b] + c.state.step(), c.state.target_lengths()[b], j, c.key_length(b));
    auto& guide = c.call.problem.guide;
    guide.tensor = costs;
    guide.query = keys;
    guide.key = 1;
    guide.packed = !c.call.stacked;
    if (c.call.stacked && o.count > 0) guide.batch = o.length(0) * keys;
  }

 private:
  float cost(int64_t i, int64_t queries, int64_t j, int64_t keys) const {
    const float distance =
        static_cast<float>(i) / static_cast<float>(queries) - static_cast<float>(j) / static_cast<float>(keys);
    return 1.0f - static_cast<float>(exact::exp(-distance * distance / (2.0f * sigma_ * sigma_)));
  }

  float sigma_;
};

std::unique_ptr<Time> make_guided(const Scope&, const Options& options) { return std::make_unique<Guided>(options); }

std::string refuse_guided(const Options& o, const Parts&) {
  if (!(o.guide_sigma > 0.0f)) return fmt::format("guided needs a guide_sigma above 0, not {}", o.guide_sigma);
  if (!(o.guide_weight >= 0.0f)) return fmt::format("guided needs a guide_weight of 0 or more, not {}", o.guide_weight);
  return decay_complaint("guided", "guide", o.guide_schedule, o.guide_steps);
}
}  // namespace

const Entry guided_entry = {
    .id = "T4",
    .name = "guided",
    .part = Part::time,
    .title = "guided towards the diagonal",
    .formula = "cost = sum_ij A_ij (1 - exp(-(i/Tq - j/Tk)^2 / (2 g^2)))",
    .paper =
        "Tachibana, Uenoyama and Aihara 2018, Efficiently Trainable Text-to-Speech System Based on Deep Convolutional "
        "Networks with Guided Attention",
    .time = "n m exp more if the cost is requested",
    .memory = "n",
    .combines = "any score, normaliser and region",
    .page =
        "When source and target are roughly aligned, penalising attention far from the diagonal lets the model find "
        "its alignment in a fraction of the time. The cost is a second output (Request::guide_cost). Models trained "
        "from a recipe add it to their loss, times guide_weight; guide_schedule lets the weight fall during training, "
        "once the alignment is found. In your own code, add it with a weight that decays. A given alignment is a "
        "stronger teacher: data.alignments (docs/training.md).\n\n"
        "forward_only is the hard form: the position may never move back.",
    .options = "guide_sigma guide_weight guide_schedule guide_steps",
    .instead = {.in_encoder = &dynamic_entry, .in_decoder = &dynamic_entry},
    .guides = true,
    .refuses = refuse_guided,
    .make_time = make_guided,
};

}  // namespace heed::attend
