// The states of the second text attend to those of the first; both side by side are pooled.
#include "heed/task/classification/classifier.h"
#include "heed/task/classification/relation/all.h"
#include "heed/tensor/op/arrange.h"

namespace heed::task {

namespace {

class Pool final : public Relation {
 public:
  explicit Pool(const RelationParts& p)
      : to_first_(attention_between_texts(p.scope / "to_first", p.options, p.states)),
        pool_(p.scope / "pool", without_attention(p.options), p.states + to_first_->context_width()) {}

  Tensor run(const Reader& reader, Tape& tape, const data::Sources& texts, attend::Weights* weights) const override {
    const Packed first = reader.states(reader.vectors(tape, texts.tokens));
    const Packed second = reader.states(reader.vectors(tape, texts.second));
    const attend::Attended seen =
        to_first_->attend({second}, to_first_->prepare({first}), {}, {.weights = weights != nullptr});
    if (weights) *weights = seen.weights;
    return pool_({concat_columns({second.rows, seen.context}), second.offsets}, nullptr, nullptr);
  }
  int64_t width() const override { return pool_.width; }

 private:
  /// [attention] is about the other text; pooling has one learned query.
  static model::Options without_attention(model::Options o) {
    o.attention = {};
    return o;
  }

  std::unique_ptr<attend::Mechanism> to_first_;
  Classifier::Pooling pool_;
};

}  // namespace

const RelationEntry pool_relation = {
    .name = "pool",
    .meaning = "the second text attends to the first, and is pooled with what it found there",
    .place = [](std::string_view attention, int64_t) -> AttentionPlace {
      using enum AttentionRows;
      if (attention == "to_first") return {"attention from the second text to the first", second, source};
      return {"words that count", pooled, second};
    },
    .make = [](const RelationParts& p) -> std::unique_ptr<Relation> { return std::make_unique<Pool>(p); },
};

}  // namespace heed::task
