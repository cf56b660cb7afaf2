#include "heed/data/batches.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <tuple>

#include "heed/base/error.h"
#include "heed/base/random.h"

namespace heed::data {

namespace {

/// Cuts `sorted` wherever one more example would break a limit.
void cut(std::span<const int64_t> sorted, const Lengths& lengths, const BatchOptions& options,
         std::vector<Indices>& batches) {
  Indices batch;
  int64_t sources = 0, targets = 0;
  for (const int64_t i : sorted) {
    const int64_t source = lengths.source[static_cast<size_t>(i)], target = lengths.target[static_cast<size_t>(i)];
    const bool full = sources + source > options.max_tokens || targets + target > options.max_tokens ||
                      (options.max_examples > 0 && static_cast<int64_t>(batch.size()) >= options.max_examples);
    if (full && !batch.empty()) {
      batches.push_back(batch);
      batch.clear();
      sources = targets = 0;
    }
    batch.push_back(i);
    sources += source;
    targets += target;
  }
  if (!batch.empty()) batches.push_back(batch);
}

}  // namespace

std::vector<Indices> make_batches(const Lengths& lengths, const BatchOptions& options, int64_t epoch) {
  expect(lengths.source.size() == lengths.target.size(), "batches: {} sources, but {} targets", lengths.source.size(),
         lengths.target.size());
  expect(options.max_tokens > 0, "max_tokens: must be at least 1, but is {}", options.max_tokens);
  expect(options.window > 0, "window: must be at least 1, but is {}", options.window);
  std::vector<int64_t> order(lengths.source.size());
  std::iota(order.begin(), order.end(), int64_t{0});
  text::Random random(options.seed, static_cast<uint64_t>(epoch));
  if (options.shuffle) random.shuffle(std::span(order));

  std::vector<Indices> batches;
  const auto window = static_cast<size_t>(options.window);
  for (size_t begin = 0; begin < order.size(); begin += std::min(window, order.size() - begin)) {
    const auto part = std::span(order).subspan(begin, std::min(window, order.size() - begin));
    // Stable: examples of equal length stay shuffled, so that each epoch mixes them anew.
    std::stable_sort(part.begin(), part.end(), [&](int64_t a, int64_t b) {
      const auto i = static_cast<size_t>(a), j = static_cast<size_t>(b);
      return std::tie(lengths.target[i], lengths.source[i]) < std::tie(lengths.target[j], lengths.source[j]);
    });
    cut(part, lengths, options, batches);
  }
  if (options.shuffle) random.shuffle(std::span(batches));
  return batches;
}

}  // namespace heed::data
