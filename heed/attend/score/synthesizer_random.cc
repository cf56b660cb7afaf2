// L8 synthesizer_random: A = softmax(R), R learned or fixed.   Tay et al. 2021.
// Maps to the loop with no pair score: R is a bias that all sequences share.
#include "heed/attend/score/synthesizer.h"

namespace heed::attend {

namespace {
class SynthesizerRandom final : public Score {
 public:
  SynthesizerRandom(const Scope& scope, const Options& options)
      : table_(scope, options), max_length_(options.max_length) {}
  bool reads_pairs() const override { return false; }
  void configure(CallContext& c) const override {
    check_length(c, "synthesizer_random", max_length_);
    c.call.problem.score.kind = kernels::ScoreKind::none;
    c.add_bias(table_.table(c.tape), BiasRows::table);
  }

 private:
  RandomTable table_;
  int64_t max_length_;
};
}  // namespace

const Entry synthesizer_random_entry = {
    .id = "L8",
    .name = "synthesizer_random",
    .part = Part::score,
    .title = "one table of scores for all sentences",
    .formula = "e_ij = R_ij",
    .paper = "Tay et al. 2021, Synthesizer: Rethinking Self-Attention for Transformer Models",
    .time = "n m",
    .memory = "2 n",
    .combines = "any normaliser, region and time behaviour; heads, each with its own table",
    .page =
        "A table of scores by position, the same for every sentence. It starts random and is trained, or stays fixed "
        "(fixed_table = true). The paper's surprise is how well a Transformer still works with it.",
    .options = "max_length fixed_table",
    .order_matters = true,
    .instead = {.to_source = &scaled_dot_entry},
    .longest_memory = &Options::max_length,
    .refuses = refuse_synthesizer,
    .make_score = new_score<SynthesizerRandom>,
};

}  // namespace heed::attend
