#include "heed/model/copying.h"

#include <algorithm>

#include "heed/attend/choices.h"
#include "heed/attend/watch.h"
#include "heed/base/error.h"
#include "heed/tensor/op/arithmetic.h"
#include "heed/tensor/op/copy_distribution.h"
#include "heed/tensor/op/copy_mixture.h"
#include "heed/tensor/op/coverage.h"
#include "heed/text/tokens.h"

namespace heed::model {

CopyLinks::CopyLinks(const data::Batch& batch) : sequences_(batch.targets.offsets) {
  const data::Targets& targets = batch.targets;
  expect(batch.sources.copies.size() == targets.size(),
         "model: to copy, the model needs the words of each source as words of the target; {} of {} sources have them",
         batch.sources.copies.size(), targets.size());
  for (int64_t b = 0; b < targets.size(); ++b) {
    const std::span<const int32_t> copies = batch.sources.copies[b];
    for (int64_t r = targets.offsets[static_cast<size_t>(b)]; r < targets.offsets[static_cast<size_t>(b) + 1]; ++r) {
      const int32_t target = targets.out[static_cast<size_t>(r)];
      for (size_t i = 0; i < copies.size() && target >= 0; ++i)
        if (copies[i] == target) keys_.push_back(static_cast<int32_t>(i));
      rows_.push_back(std::ssize(keys_));
    }
  }
}

Copying::Copying(const Scope& root, const Options& o, int64_t width, const std::vector<int64_t>& heads)
    : options_(o.copying), vocabulary_(o.target_vocabulary) {
  if (!options_.on) return;
  expect(!attend::draws(o.attention),
         "model.copy: attention.normalise = \"{}\" draws where it looks, which says nothing about what to copy; use "
         "softmax",
         o.attention.normalise);
  expect(options_.layer < std::ssize(heads),
         "model: model.copy_layer is {}, but the decoder has {} layers that attend to the source, from 0",
         options_.layer, heads.size());
  expect(!heads.empty(), "model.copy: the decoder does not attend to the source");
  const int64_t count = heads[layer_of(heads.size())];
  expect(options_.head < count, "model: model.copy_head is {}, but that attention has {} heads, from 0", options_.head,
         count);
  gate_ = Linear(root / "copy" / "gate", width, 1);
}

size_t Copying::layer_of(size_t layers) const {
  return options_.layer < 0 ? layers - 1 : static_cast<size_t>(options_.layer);
}

std::span<const int32_t> Copying::readable(std::span<const int32_t> tokens, Tape& tape) const {
  int32_t* read = tape.keep<int32_t>(tokens);
  for (size_t i = 0; i < tokens.size(); ++i)
    if (read[i] >= vocabulary_) read[i] = text::kUnknown;
  return {read, tokens.size()};
}

// ---------------------------------------------------------------------------------------------------------------- loss

void Copying::ask(decode::AttentionCosts& costs, const attend::GivenAlignments& links) const {
  if (options_.coverage > 0.0f)
    costs.want_matrix = true;  // the links are looked up in it
  else
    costs.links = &links;
}

OutputLoss Copying::loss(const OutputLayer& output, Tensor states, const decode::AttentionCosts& costs,
                         const data::Batch& batch, const OutputLossOptions& options) const {
  Tape& tape = states.tape();
  const int64_t rows = states.rows();
  const std::vector<Tensor>& of_layers = options_.coverage > 0.0f ? costs.matrix : costs.aligned_weight;
  const Tensor asked = of_layers.empty() ? Tensor() : of_layers[layer_of(of_layers.size())];
  expect(asked && (options_.coverage > 0.0f ? asked.rows() % rows == 0 : asked.cols() == rows),
         "model.copy: this attention does not tell how it looks at single words of the source: use structure single or "
         "multi_head, and a time other than guided, forward_only and static");
  CopyPart copy{.gate = gate_(states), .mass = asked, .head = options_.head};
  if (options_.coverage <= 0.0f) return output.loss(states, batch.targets.out, options, copy);
  const CopyLinks links(batch);
  const attend::GivenAlignments all = links.view();
  copy.mass = weight_on_columns(asked, rows, tape.keep<int64_t>(all.rows), tape.keep<int32_t>(all.keys));
  OutputLoss loss = output.loss(states, batch.targets.out, options, copy);
  if (!tape.training()) return loss;
  const Tensor coverage = coverage_cost(asked, tape.offsets(batch.targets.offsets), options_.head);
  loss.loss = add(loss.loss, scale(coverage, options.scale * options_.coverage));
  return loss;
}

// -------------------------------------------------------------------------------------------------------------- search

int64_t Copying::columns(const data::Sequences& copies) const {
  int64_t most = vocabulary_;
  for (const int32_t id : copies.values()) most = std::max(most, int64_t{id} + 1);
  return copy_columns(most, 0);
}

const attend::Weights& Copying::chosen_layer(const decode::Alignment& alignment) const {
  return alignment.layers[layer_of(alignment.layers.size())];
}

void Copying::mean_weights(const attend::Weights& layer, int64_t sequence, int64_t query, std::span<float> to) const {
  const int64_t first = options_.head < 0 ? 0 : options_.head, last = options_.head < 0 ? layer.heads - 1 : first;
  const float share = 1.0f / static_cast<float>(last - first + 1);
  std::fill(to.begin(), to.end(), 0.0f);
  for (int64_t h = first; h <= last; ++h)
    for (size_t j = 0; j < to.size(); ++j) to[j] += share * layer.at(sequence, h, query)[j];
}

Tensor Copying::distribution(Tensor states, Tensor logits, const decode::Alignment& alignment,
                             std::span<const Row> rows, int64_t columns) const {
  const attend::Weights& layer = chosen_layer(alignment);
  float* weights = states.tape().keep<float>(std::ssize(rows) * layer.keys);
  return copy_distribution(logits, gate_(states), columns, [&](int64_t r) {
    const Row& row = rows[static_cast<size_t>(r)];
    const std::span<float> of_row(weights + r * layer.keys, row.copies.size());
    mean_weights(layer, row.sequence, row.query, of_row);
    return CopyWeights{row.copies, of_row};
  });
}

void Copying::show(Tensor states, const decode::Alignment& alignment, const Offsets& targets,
                   const Offsets& sources) const {
  const attend::Weights& layer = chosen_layer(alignment);
  attend::Weights copied{.batch = layer.batch, .heads = 1, .queries = layer.queries, .keys = layer.keys};
  copied.data = states.tape().keep<float>(copied.batch * copied.queries * copied.keys);
  const Tensor gate = gate_(states);
  for (int64_t b = 0; b < targets.count; ++b)
    for (int64_t i = 0; i < targets.length(b); ++i) {
      const std::span<float> row(copied.at(b, 0, i), static_cast<size_t>(copied.keys));
      mean_weights(layer, b, i, row);
      const auto share = static_cast<float>(exact::exp(log_sigmoid(-double{*gate.row(targets.at[b] + i)})));
      for (float& weight : row) weight *= share;
    }
  attend::Watch::show(kWatched, copied, targets, sources);
}

}  // namespace heed::model
