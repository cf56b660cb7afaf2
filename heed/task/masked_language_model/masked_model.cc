#include "heed/task/masked_language_model/masked_model.h"

#include <algorithm>

#include "heed/attend/census.h"
#include "heed/base/error.h"
#include "heed/model/encode/all.h"
#include "heed/model/encode/choices.h"
#include "heed/model/stack_options.h"
#include "heed/tensor/op/arrange.h"

namespace heed::task {

MaskedModel::MaskedModel(Parameters& parameters, const model::Options& o) : options_(o) {
  const attend::Census census;
  const model::Resolved words(o);
  expect(o.source_vocabulary > 0, "model: the vocabulary is empty");
  expect(o.source_vocabulary == o.target_vocabulary,
         "model: one vocabulary is read and predicted, not {} and {} tokens", o.source_vocabulary, o.target_vocabulary);
  expect(o.width > 0 && o.encoder_layers > 0 && o.context > 0,
         "model: width {}, layers {} and context {} must be above 0", o.width, o.encoder_layers, o.context);
  const encode::EncoderEntry& entry = encode::find_encoder(o.encoder_kind());
  const Scope root(parameters);
  embed::Options vectors = model::embedding_options(o, words, o.source_vocabulary, entry.needs_positions);
  vectors.blank = true;
  embed_ = embed::Embed(root / "source", vectors);
  encoder_ = entry.make(root / "encoder", model::stack_options(o, words, o.encoder_layers, entry.needs_positions));
  longest_memory_ = census.longest_memory();
  int64_t width = encoder_->width();
  if (o.transform) {
    activation_ = value_of(encode::kActivations, o.activation, "model: activation").activation;
    const int64_t table = embed_.table()->cols();
    transform_ = Linear(root / "transform", width, table);
    transform_norm_ = RowNorm(root / "transform" / "norm", table, words.norm_options);
    width = table;
  }
  expect(
      words.tied == model::Tied::none || width == embed_.table()->cols(),
      "model: tied = \"{}\" needs states of the width of the vectors, {}, but they have {}: set transform = true, or "
      "tied = \"none\"",
      o.tied, embed_.table()->cols(), width);
  output_ = model::OutputLayer(root, o, width, embed_.table());
}

Tensor MaskedModel::states(Tape& tape, const data::Sequences& texts, std::span<const int64_t> rows) const {
  const Packed all = encoder_->run(embed_(tape, texts.values(), tape.offsets(texts.offsets()))).memory;
  const Tensor asked = gather_rows(all.rows, rows);
  return options_.transform ? transform_norm_(activate(transform_(asked), activation_)) : asked;
}

model::Loss MaskedModel::loss(Tape& tape, const data::Batch& batch, const OutputLossOptions& options) const {
  const data::Targets& t = batch.targets;
  const data::Sequences& texts = batch.sources.tokens;
  expect(t.size() == texts.size() && t.places.size() == t.out.size(),
         "model: expected a batch of texts that lack tokens");
  std::vector<int64_t> rows;
  for (int64_t b = 0; b < t.size(); ++b)
    for (int64_t i = t.offsets[static_cast<size_t>(b)]; i < t.offsets[static_cast<size_t>(b) + 1]; ++i) {
      const int32_t place = t.places[static_cast<size_t>(i)];
      expect(place >= 0 && place < texts.length(b), "model: text {} of {} tokens has no token {}", b, texts.length(b),
             place);
      rows.push_back(texts.offsets()[static_cast<size_t>(b)] + place);
    }
  return output_.loss(states(tape, texts, rows), t.out, options);
}

Tensor MaskedModel::logits(Tape& tape, const data::Sequences& texts, std::span<const Asked> asked) const {
  std::vector<int64_t> rows;
  for (const Asked& each : asked) rows.push_back(texts.offsets()[static_cast<size_t>(each.text)] + each.place);
  return output_.logits(states(tape, texts, rows));
}

int64_t MaskedModel::max_positions() const { return std::min(embed_.max_positions(), longest_memory_); }

}  // namespace heed::task
