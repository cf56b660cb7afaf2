#include "heed/kernels/loop/plan.h"

#include <algorithm>

#include "heed/kernels/loop/decode.h"
#include "heed/kernels/loop/values.h"
#include "heed/kernels/score/score.h"

namespace heed::kernels {
namespace {

int round_up(int64_t n, int to) { return static_cast<int>((n + to - 1) / to * to); }

}  // namespace

Geometry geometry(const Problem& p) {
  // Chosen by measurement (docs/kernels.md). The queries of a block are a multiple of every panel; 96 and 120 are
  // multiples of the heights of the products' blocks. They must not depend on lengths: where a row's keys are cut
  // decides its last bits, which should not depend on the rest of the batch or the cache.
  constexpr int kKeys = 120;
  const int lanes = vector_lanes();
  const int64_t queries = std::max<int64_t>(most_queries(p), 1);
  Geometry g;
  g.panel = 2 * lanes;
  const int widest = score_entry(p).block_queries;
  g.width = queries <= lanes ? lanes : static_cast<int>(std::min<int64_t>(widest, round_up(queries, g.panel)));
  g.keys = static_cast<int>(std::clamp<int64_t>(most_keys(p), 1, kKeys));
  g.stride = g.width >= 64 ? g.width + lanes : g.width;
  return g;
}

std::pmr::vector<BlockTask> plan_tasks(const Problem& p, const Geometry& g, bool ascending, CallArena& arena,
                                       const Decoding* decoding) {
  const auto blocks_of = [&](const Sequence& s, int64_t b) {
    KeyRange range;
    return decoding && decoding->takes(s, b, range) ? 0 : (s.queries + g.width - 1) / g.width;
  };
  int64_t count = 0;
  for (int64_t b = 0; b < p.shape.batch; ++b) count += p.shape.heads * blocks_of(sequence(p, b), b);
  std::pmr::vector<BlockTask> tasks(&arena);
  tasks.reserve(static_cast<size_t>(count));
  for (int64_t b = 0; b < p.shape.batch; ++b) {
    const Sequence s = sequence(p, b);
    const int64_t blocks = blocks_of(s, b);
    for (int64_t h = 0; h < p.shape.heads; ++h)
      for (int64_t n = 0; n < blocks; ++n) {
        const int64_t first = (ascending ? n : blocks - 1 - n) * g.width;
        tasks.push_back({static_cast<int32_t>(b), static_cast<int32_t>(h), first,
                         static_cast<int32_t>(std::min<int64_t>(g.width, s.queries - first))});
      }
  }
  return tasks;
}

std::pmr::vector<int32_t> key_block_list(const Problem& p, const Geometry& g, CallArena& arena) {
  std::pmr::vector<int32_t> blocks(&arena);
  blocks.reserve(static_cast<size_t>(most_keys(p) / g.keys + 1));
  return blocks;
}

void visited_key_blocks(const KeyRange* ranges, int count, int block_keys, std::pmr::vector<int32_t>& blocks) {
  blocks.clear();
  int64_t low = INT32_MAX, high = 0, prefix_low = INT32_MAX, prefix = 0;
  for (int c = 0; c < count; ++c) {
    if (ranges[c].prefix > 0) prefix_low = std::min<int64_t>(prefix_low, ranges[c].prefix_low);
    prefix = std::max<int64_t>(prefix, ranges[c].prefix);
    if (ranges[c].low >= ranges[c].high) continue;
    low = std::min<int64_t>(low, ranges[c].low);
    high = std::max<int64_t>(high, ranges[c].high);
  }
  for (int64_t n = prefix_low / block_keys; n * block_keys < prefix; ++n) blocks.push_back(static_cast<int32_t>(n));
  const int64_t next = blocks.empty() ? 0 : blocks.back() + 1;
  if (low < high)
    for (int64_t n = std::max(next, low / block_keys); n * block_keys < high; ++n)
      blocks.push_back(static_cast<int32_t>(n));
}

}  // namespace heed::kernels
