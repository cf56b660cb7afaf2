// Attend, compare, aggregate.  Parikh et al. 2016; on the states of an encoder: Chen et al. 2017
//
//   attend       each token h of a text looks at the tokens of the other, and finds c there
//   compare      v = f(G [h; c; h - c; h * c])           f: model.activation
//   aggregate    the sum of all v of a text, and the largest number of each column; of both texts side by side
//
// One attention asks both ways.
#include "heed/base/error.h"
#include "heed/layer/linear.h"
#include "heed/model/encode/choices.h"
#include "heed/task/classification/relation/all.h"
#include "heed/tensor/op/activation.h"
#include "heed/tensor/op/arithmetic.h"
#include "heed/tensor/op/arrange.h"
#include "heed/tensor/op/dropout.h"
#include "heed/tensor/op/pool.h"

namespace heed::task {

namespace {

constexpr std::string_view kByStates = "states", kByVectors = "vectors";  // of model.compared; "both" is the third

/// [sequences, width]: the sum of the rows of each.
Tensor sum_of_sequences(const Packed& x) {
  Tape& tape = x.rows.tape();
  auto* lengths = tape.keep<float>(x.offsets.count);
  for (int64_t s = 0; s < x.offsets.count; ++s) lengths[s] = static_cast<float>(x.offsets.length(s));
  return scale_rows(mean_of_sequences(x), lengths);
}

class Compare final : public Relation {
 public:
  explicit Compare(const RelationParts& p)
      : keys_(p.options.own.of<LabelKeys>()),
        activation_(value_of(encode::kActivations, p.options.activation, "compare: activation").activation),
        dropout_(p.options.dropout),
        token_width_((keys_.compared == kByStates ? 0 : p.vectors) + (keys_.compared == kByVectors ? 0 : p.states)),
        align_(attention_between_texts(p.scope / "align", p.options, token_width_, token_width_)),
        compare_(p.scope / "compare", 4 * token_width_, p.options.width) {
    if (align_->context_width() != token_width_)
      context_ = Linear(p.scope / "context", align_->context_width(), token_width_);
  }

  Tensor run(const Reader& reader, Tape& tape, const data::Sources& texts, attend::Weights* weights) const override {
    const Packed first = tokens(reader, reader.vectors(tape, texts.tokens));
    const Packed second = tokens(reader, reader.vectors(tape, texts.second));
    const Tensor of_second = compared(second, first, weights), of_first = compared(first, second, nullptr);
    return concat_columns({of_first, of_second});
  }
  int64_t width() const override { return 2 * compare_.weight->rows() * (keys_.aggregate == "sum_max" ? 2 : 1); }

 private:
  /// What stands for each token.
  Packed tokens(const Reader& reader, const Packed& vectors) const {
    if (keys_.compared == kByVectors) return vectors;
    const Packed states = reader.states(vectors);
    if (keys_.compared == kByStates) return states;
    return {concat_columns({vectors.rows, states.rows}), vectors.offsets};
  }

  /// A text and what it finds in the other -> [texts, ..]
  Tensor compared(const Packed& text, const Packed& other, attend::Weights* weights) const {
    const attend::Attended found =
        align_->attend({text}, align_->prepare({other}), {}, {.weights = weights != nullptr});
    if (weights) *weights = found.weights;
    const Tensor h = text.rows, c = context_.weight ? context_(found.context) : found.context;
    const Tensor x = concat_columns({h, c, subtract(h, c), multiply(h, c)});
    const Packed v = {dropout(activate(compare_(dropout(x, dropout_)), activation_), dropout_), text.offsets};
    if (keys_.aggregate == "sum") return sum_of_sequences(v);
    if (keys_.aggregate == "max") return max_of_sequences(v);
    return concat_columns({sum_of_sequences(v), max_of_sequences(v)});
  }

  LabelKeys keys_;
  Activation activation_;
  float dropout_;
  int64_t token_width_;
  std::unique_ptr<attend::Mechanism> align_;
  Linear context_, compare_;
};

}  // namespace

const RelationEntry compare_relation = {
    .name = "compare",
    .meaning = "each token is compared with what it finds in the other text, and the comparisons are added",
    .encodes = [](const LabelKeys& keys) { return keys.compared != kByVectors; },
    .place = [](std::string_view, int64_t call) -> AttentionPlace {
      using enum AttentionRows;
      if (call == 0) return {"attention from the second text to the first", second, source};
      return {"attention from the first text to the second", source, second};
    },
    .make = [](const RelationParts& p) -> std::unique_ptr<Relation> { return std::make_unique<Compare>(p); },
};

}  // namespace heed::task
