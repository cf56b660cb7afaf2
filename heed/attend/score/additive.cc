// S5 additive (concat): score = v^T tanh(W1 k + W2 q + b).   Bahdanau, Cho and Bengio 2015.
// concat, v^T tanh(W [k; q]), is the same thing with W = [W1 W2].
// Prepare: k' = W1 k + b and q' = W2 q, once per token; a pair costs one tanh per hidden unit: the loop's tanh_sum.
#include "heed/attend/score/additive.h"

#include "heed/attend/choices.h"
#include "heed/base/error.h"
#include "heed/tensor/op/linear.h"

namespace heed::attend {

PairNetwork::PairNetwork(const Scope& scope, const Options& options)
    : activation_(value_of(kActivations, options.activation)),
      query_(scope / "query", options.query_width, options.hidden, false),
      key_(scope / "key", options.key_width, options.hidden, false),
      bias_(&scope.make("bias", {options.hidden}, Initialiser::constant(0.0f))),
      v_(&scope.make("v", {options.hidden}, Initialiser::xavier())) {
  for (int64_t l = 1; l < options.depth; ++l) {
    const Scope layer = scope / "layer" / std::to_string(l);
    layers_.push_back({&layer.make("weight", {options.hidden, options.hidden}, Initialiser::xavier()),
                       &layer.make("bias", {options.hidden}, Initialiser::constant(0.0f))});
  }
}

Tensor PairNetwork::queries(Tensor q) const { return query_(q); }

Tensor PairNetwork::keys(Tensor k) const {  // b goes with the keys, where it is added once per memory
  Tape& tape = k.tape();
  return linear(k, tape.parameter(*key_.weight), tape.parameter(*bias_));
}

void PairNetwork::configure(CallContext& c) const {
  auto& score = c.call.problem.score;
  c.call.score_v = c.tape.parameter(*v_);
  if (layers_.empty() && activation_ == kernels::MlpActivation::tanh) {
    score.kind = kernels::ScoreKind::tanh_sum;
    return;
  }
  score.kind = kernels::ScoreKind::pair_mlp;
  score.activation = activation_;
  auto* layers = c.tape.keep<MlpTensors>(static_cast<int64_t>(layers_.size()));
  for (size_t l = 0; l < layers_.size(); ++l)
    layers[l] = {c.tape.parameter(*layers_[l].weight), c.tape.parameter(*layers_[l].bias)};
  c.call.layers = {layers, layers_.size()};
}

namespace {
/// One hidden layer with tanh, whatever the options of mlp say.
std::unique_ptr<Score> make_additive(const Scope& scope, const Options& options) {
  Options one_layer = options;
  one_layer.depth = 1;
  one_layer.activation = "tanh";
  return new_score<PairNetwork>(scope, one_layer);
}
}  // namespace

const Entry additive_entry = {
    .id = "S5",
    .name = "additive",
    .part = Part::score,
    .title = "one hidden layer on the pair (concat)",
    .formula = "e_ij = v^T tanh(W1 k_j + W2 q_i + b)",
    .paper = "Bahdanau, Cho and Bengio 2015, Neural Machine Translation by Jointly Learning to Align and Translate",
    .time = "n m H tanh + (n + m) D H,  H = hidden",
    .memory = "2 n + (n + m) H",
    .combines = "any normaliser, region and time behaviour; any widths",
    .page =
        "A small network with one hidden layer looks at query and key together. Both projections are computed once per "
        "token. A pair costs one tanh per hidden unit, which the loop computes from e^(2q') and e^(2k') with one "
        "multiplication and a share of a division.\n\n"
        "The first attention used in machine translation, and still the one that learns alignments most reliably from "
        "little data. concat is the same score, written with one matrix for [k; q].",
    .options = "hidden",
    .aliases = "concat",
    .make_score = make_additive,
};

}  // namespace heed::attend
