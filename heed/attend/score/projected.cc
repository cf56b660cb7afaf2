// S7 projected: score = (W q) . (W' k) + b, with W' = W allowed.   Vaswani et al. 2017 for two, Reformer for one
// matrix. Prepare: q' = W q, k' = W' k, once per token; the loop's score is inner, and b is a single bias. Parameters:
// score.query.weight [hidden, Dq], score.key.weight [hidden, Dk] (not with shared_projection), score.bias [1].
#include <fmt/format.h>

#include "heed/attend/score/score.h"
#include "heed/tensor/op/arrange.h"
#include "heed/tensor/op/linear.h"

namespace heed::attend {

namespace {
class Projected final : public Score {
 public:
  Projected(const Scope& scope, const Options& options)
      : query_(scope / "query", options.query_width, options.hidden, false),
        key_(options.shared_projection ? query_ : Linear(scope / "key", options.key_width, options.hidden, false)),
        bias_(&scope.make("bias", {1}, Initialiser::constant(0.0f))),
        capped_(options.softcap > 0.0f) {}
  Tensor queries(Tensor q) const override {
    if (!capped_) return query_(q);
    return concat_columns({query_(q), matmul(ones(q), q.tape().parameter(*bias_))});
  }
  Tensor keys(Tensor k) const override { return capped_ ? concat_columns({key_(k), ones(k)}) : key_(k); }
  void configure(CallContext& c) const override {
    c.call.problem.score.kind = kernels::ScoreKind::inner;
    c.call.problem.score.scale = 1.0f;
    if (!capped_) c.add_bias(c.tape.parameter(*bias_), BiasRows::one);
  }

 private:
  static Tensor ones(Tensor like) { return like.tape().filled(like.rows(), 1, 1.0f); }

  Linear query_, key_;
  Parameter* bias_;
  bool capped_;  // the loop adds biases after the softcap, so b goes into the product: [W q, b] . [W' k, 1]
};

std::string needs_one_width_to_share(const Options& o, const Parts&) {
  if (!o.shared_projection || o.query_width == o.key_width) return "";
  return fmt::format(
      "projected with shared_projection uses one matrix for both, so a query of width {} does not fit a key of width "
      "{}",
      o.query_width, o.key_width);
}
}  // namespace

const Entry projected_entry = {
    .id = "S7",
    .name = "projected",
    .part = Part::score,
    .title = "dot product of projections",
    .formula = "e_ij = (W q_i) . (W' k_j) + b",
    .paper =
        "Vaswani et al. 2017, Attention Is All You Need; one matrix for both: Kitaev, Kaiser and Levskaya 2020, "
        "Reformer: The Efficient Transformer",
    .time = "n m H + (n + m) D H,  H = hidden",
    .memory = "2 n + (n + m) H",
    .combines = "any normaliser, region and time behaviour; any widths (one width with shared_projection)",
    .page =
        "Query and key are projected into a common space of `hidden` dimensions and compared there. This is general "
        "attention whose matrix W^T W' has rank `hidden` at most, so it needs fewer parameters. With shared_projection "
        "both use the same matrix and the score is symmetric.\n\n"
        "b has no effect with softmax, which only sees differences; with sigmoid and relu it is the threshold.",
    .options = "hidden shared_projection",
    .inner_product = true,
    .hidden_wide = true,
    .refuses = needs_one_width_to_share,
    .make_score = new_score<Projected>,
};

}  // namespace heed::attend
