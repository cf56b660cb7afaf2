#include "heed/model/search/alignment_row.h"

#include "heed/base/error.h"

namespace heed::search {

std::vector<float> weights_of(const decode::Alignment& alignment, const Heads& heads, const AlignmentRow& row) {
  std::vector<float> sum(static_cast<size_t>(row.keys), 0.0f);
  const auto [layer, head] = heads;
  const auto layers = static_cast<int64_t>(alignment.layers.size());
  expect(layer < layers, "search: layer {} does not exist; there are {}", layer, layers);
  const int64_t first_layer = layer >= 0 ? layer : (layer == Heads::kLast ? layers - 1 : 0);
  const int64_t last_layer = layer == Heads::kMean ? layers - 1 : first_layer;
  for (int64_t l = first_layer; l <= last_layer; ++l) {
    const attend::Weights& w = alignment.layers[static_cast<size_t>(l)];
    expect(head < w.heads, "search: head {} does not exist; there are {}", head, w.heads);
    const int64_t first_head = head >= 0 ? head : 0, last_head = head >= 0 ? head : w.heads - 1;
    const float share = 1.0f / static_cast<float>((last_layer - first_layer + 1) * (last_head - first_head + 1));
    for (int64_t h = first_head; h <= last_head; ++h)
      for (size_t j = 0; j < sum.size(); ++j) sum[j] += share * w.at(row.sequence, h, row.query)[j];
  }
  return sum;
}

}  // namespace heed::search
