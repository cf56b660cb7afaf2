#include "heed/search/stepper.h"

#include "heed/tensor/error.h"

namespace heed::search {

Stepper::Stepper(const model::Generator& generator, Tape& tape, const Sources& sources, const Options& options)
    : generator_(generator),
      tape_(tape),
      sources_(sources),
      options_(options),
      wants_weights_(options.alignment || options.beta != 0.0) {
  tape.reset();
  state_ = generator.start(tape, {sources.ids, sources.offsets}, options.longest);
  read_ = state_->step();
  if (sources.rules.empty() && options.no_repeat_ngram == 0) return;
  for (int64_t b = 0; b < sources.size(); ++b) referees_.emplace_back(sources.rules_of(b), options);
}

Tensor Stepper::next(std::span<const int32_t> tokens) {
  tape_.reset();  // the state is outside it
  return generator_.step(tokens, *state_, tape_, wants_weights_ ? &alignment_ : nullptr);
}

std::vector<float> Stepper::weights(int64_t row, int64_t sentence) const {
  if (!wants_weights_) return {};
  std::vector<float> sum(sources_.at(sentence).size(), 0.0f);
  const auto [layer, head] = options_.heads;
  const auto layers = static_cast<int64_t>(alignment_.layers.size());
  expect(layer < layers, "search: layer {} does not exist; there are {}", layer, layers);
  const int64_t first_layer = layer >= 0 ? layer : (layer == Heads::kLast ? layers - 1 : 0);
  const int64_t last_layer = layer == Heads::kMean ? layers - 1 : first_layer;
  for (int64_t l = first_layer; l <= last_layer; ++l) {
    const attend::Weights& w = alignment_.layers[static_cast<size_t>(l)];
    expect(head < w.heads, "search: head {} does not exist; there are {}", head, w.heads);
    const int64_t first_head = head >= 0 ? head : 0, last_head = head >= 0 ? head : w.heads - 1;
    const float share = 1.0f / static_cast<float>((last_layer - first_layer + 1) * (last_head - first_head + 1));
    for (int64_t h = first_head; h <= last_head; ++h)
      for (size_t j = 0; j < sum.size(); ++j) sum[j] += share * w.at(row, h, 0)[j];
  }
  return sum;
}

void Stepper::select(std::span<const int64_t> rows) { state_->select(rows); }

}  // namespace heed::search
