// Word by word: as a text is read, what was found in the other one so far decides where the next word looks.
// Rocktäschel et al. 2016, both ways
//
//   a_t = attention of Q [h_t; r_t-1] to the states of the other text
//   r_t = W a_t + tanh(K r_t-1)                  r_0 = 0
//   v   = tanh(P [r_n; h_n])                     of both texts side by side
#include "heed/attend/rows_by_step.h"
#include "heed/layer/linear.h"
#include "heed/task/classification/relation/all.h"
#include "heed/tensor/op/activation.h"
#include "heed/tensor/op/arithmetic.h"
#include "heed/tensor/op/arrange.h"
#include "heed/tensor/op/dropout.h"

namespace heed::task {

namespace {

class WordByWord final : public Relation {
 public:
  explicit WordByWord(const RelationParts& p)
      : dropout_(p.options.dropout),
        ask_(p.scope / "ask", 2 * p.states, p.states, /*with_bias=*/false),
        align_(attention_between_texts(p.scope / "align", p.options, p.states)),
        found_(p.scope / "found", align_->context_width(), p.states),
        keep_(p.scope / "keep", p.states, p.states, /*with_bias=*/false),
        end_(p.scope / "end", 2 * p.states, p.options.width) {}

  Tensor run(const Reader& reader, Tape& tape, const data::Sources& texts, attend::Weights* weights) const override {
    const Packed first = reader.states(reader.vectors(tape, texts.tokens));
    const Packed second = reader.states(reader.vectors(tape, texts.second));
    const Tensor of_second = read(second, first, weights), of_first = read(first, second, nullptr);
    return concat_columns({of_first, of_second});
  }
  int64_t width() const override { return 2 * end_.weight->rows(); }

 private:
  /// A text, word by word, beside the other -> [texts, width]
  Tensor read(const Packed& text, const Packed& other, attend::Weights* weights) const {
    Tape& tape = text.rows.tape();
    const attend::PreparedMemory prepared = align_->prepare({other});
    const attend::RowsByStep by_step(text.offsets, attend::Ended::last_row, tape);
    Tensor r = tape.filled(text.offsets.count, keep_.weight->rows(), 0.0f);
    std::vector<Tensor> all;
    std::vector<attend::Weights> looked;
    attend::State seen;
    for (int64_t t = 0; t < by_step.steps(); ++t) {
      const Packed h = by_step.take(text.rows, t);
      attend::Attended a = align_->attend({{ask_(concat_columns({h.rows, r})), h.offsets}}, prepared, seen,
                                          {.weights = weights != nullptr});
      seen = a.state;
      r = add(found_(a.context), tanh(keep_(r)));
      all.push_back(r);
      if (weights) looked.push_back(a.weights);
    }
    if (weights) *weights = by_step.put_back_weights(looked);
    std::vector<int64_t> last;
    for (int64_t b = 0; b < text.offsets.count; ++b) last.push_back(text.offsets.at[b + 1] - 1);
    const Tensor ends = gather_rows(concat_columns({by_step.put_back(all), text.rows}), last);
    return tanh(end_(dropout(ends, dropout_)));
  }

  float dropout_;
  Linear ask_;
  std::unique_ptr<attend::Mechanism> align_;
  Linear found_, keep_, end_;
};

}  // namespace

const RelationEntry word_by_word_relation = {
    .name = "word_by_word",
    .meaning = "each text is read word by word beside the other: what was found so far decides where a word looks",
    .place = [](std::string_view, int64_t call) -> AttentionPlace {
      using enum AttentionRows;
      if (call == 0) return {"attention from the second text to the first", second, source};
      return {"attention from the first text to the second", source, second};
    },
    .make = [](const RelationParts& p) -> std::unique_ptr<Relation> { return std::make_unique<WordByWord>(p); },
};

}  // namespace heed::task
