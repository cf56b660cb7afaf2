// Both texts as one sequence, with a learned mark of the text that a token belongs to. Positions start anew in the
// second text. The encoder, with self-attention most of all, sees both at once; then they are pooled as one text.
#include "heed/task/classification/classifier.h"
#include "heed/task/classification/relation/all.h"
#include "heed/tensor/op/arithmetic.h"
#include "heed/tensor/op/arrange.h"

namespace heed::task {

namespace {

class Joined final : public Relation {
 public:
  /// "segment.weight" [2, width]
  explicit Joined(const RelationParts& p)
      : segments_(p.scope / "segment", {.vocabulary = 2, .width = p.vectors}),
        pool_(p.scope / "pool", p.options, p.states) {}

  Tensor run(const Reader& reader, Tape& tape, const data::Sources& texts, attend::Weights*) const override {
    const Packed first = reader.vectors(tape, texts.tokens), second = reader.vectors(tape, texts.second);
    std::vector<int64_t> offsets = {0}, rows;  // where each row of the joined texts is among all first and second ones
    std::vector<int32_t> segments;
    const int64_t all_first = first.offsets.total();
    for (int64_t b = 0; b < first.offsets.count; ++b) {
      for (int64_t i = first.offsets.at[b]; i < first.offsets.at[b + 1]; ++i) rows.push_back(i);
      for (int64_t i = second.offsets.at[b]; i < second.offsets.at[b + 1]; ++i) rows.push_back(all_first + i);
      segments.resize(rows.size() - static_cast<size_t>(second.offsets.length(b)), 0);
      segments.resize(rows.size(), 1);
      offsets.push_back(std::ssize(rows));
    }
    const Tensor tokens = gather_rows(concat_rows({first.rows, second.rows}), rows);
    return pool_(reader.states({add(tokens, segments_(tape, segments)), tape.offsets(offsets)}), nullptr, nullptr);
  }
  int64_t width() const override { return pool_.width; }

 private:
  Embedding segments_;
  Classifier::Pooling pool_;
};

}  // namespace

const RelationEntry joined_relation = {
    .name = "joined",
    .meaning = "one sequence of both, with a mark of the text that a token belongs to",
    .joins = true,
    .place = [](std::string_view attention, int64_t) -> AttentionPlace {
      using enum AttentionRows;
      if (attention == "pool") return {"words that count", pooled, both};
      return {"self-attention of the words", both, both};
    },
    .make = [](const RelationParts& p) -> std::unique_ptr<Relation> { return std::make_unique<Joined>(p); },
};

}  // namespace heed::task
