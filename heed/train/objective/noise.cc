#include "heed/train/objective/noise.h"

#include <algorithm>
#include <utility>

#include "heed/base/random.h"

namespace heed::objective {

namespace {
constexpr uint64_t kNoiseStream = 0x6e6f697365;  // of the random numbers: other ones than those of scheduled sampling
}  // namespace

double uniform(text::Random& random) { return static_cast<double>(random.next() >> 11) * 0x1.0p-53; }

bool has_noise(const Options& o) { return o.noise_wrong > 0 || o.noise_dropped > 0 || o.noise_swapped > 0; }

std::vector<int32_t> readable_tokens(const text::Tokeniser& target) {
  std::vector<int32_t> never = target.never_written(), all;
  never.push_back(text::kEnd);
  for (int32_t v = 0; v < target.size(); ++v)
    if (std::find(never.begin(), never.end(), v) == never.end()) all.push_back(v);
  if (all.empty()) all.push_back(text::kUnknown);  // of targets that are all unknown
  return all;
}

void add_noise(data::Targets& targets, const Options& o, std::span<const int32_t> readable, uint64_t seed) {
  if (!has_noise(o)) return;
  for (int64_t s = 0; s < targets.size(); ++s) {
    const int64_t first = targets.offsets[static_cast<size_t>(s)], end = targets.offsets[static_cast<size_t>(s) + 1];
    bool moved = false;  // by the row before it
    for (int64_t r = first + 1; r < end; ++r) {
      text::Random random(seed ^ kNoiseStream, static_cast<uint64_t>(r));
      int32_t& token = targets.in[static_cast<size_t>(r)];
      if (std::exchange(moved, false)) continue;
      if (uniform(random) < o.noise_swapped && r + 1 < end) {
        std::swap(token, targets.in[static_cast<size_t>(r) + 1]);
        moved = true;
        continue;
      }
      if (uniform(random) < o.noise_dropped) {
        token = text::kUnknown;
      } else if (uniform(random) < o.noise_wrong) {
        const double place = uniform(random) * static_cast<double>(readable.size());
        token = readable[std::min(static_cast<size_t>(place), readable.size() - 1)];
      }
    }
  }
}

}  // namespace heed::objective
