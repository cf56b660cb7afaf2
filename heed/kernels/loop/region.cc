#include "heed/kernels/loop/region.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "heed/kernels/custom.h"

namespace heed::kernels {
namespace {

/// The keys of the same document: ids never decrease, so they are a range.
std::pair<int64_t, int64_t> document_keys(const Problem& p, const Sequence& s, int64_t b, int64_t i) {
  const int64_t query_base = p.ragged.query_offsets ? s.first_query : b * p.shape.queries;
  const int64_t key_base = p.ragged.key_offsets ? s.first_key : b * p.shape.keys;
  const int32_t* first = p.region.key_documents + key_base;
  const auto range = std::equal_range(first, first + s.keys, p.region.query_documents[query_base + i]);
  return {range.first - first, range.second - first};
}

/// visible[j] != 0 for the tile's keys in row `query`: masks as bytes are read in place, bits are spread out.
const uint8_t* mask_row(const Region& r, const Tile& t, int query, uint8_t* spread) {
  const uint8_t* row = r.mask + t.row_in(mask_strides(r)) + query * r.mask_query;
  if (r.mask_kind == MaskKind::bytes) return row + t.key;
  for (int j = 0; j < t.keys; ++j) spread[j] = row[(t.key + j) / 8] >> ((t.key + j) % 8) & 1;
  return spread;
}

bool user_hides(const Region& r) { return r.custom && r.custom->visible; }

constexpr int kMostKeys = 1024;  // of a tile

}  // namespace

KeyRange visible_keys(const Problem& p, const Sequence& s, int64_t b, int64_t h, int64_t i) {
  const Region& r = p.region;
  if (i >= s.live_queries) return {};
  // First what bounds every key, prefix included ...
  int64_t low = 0, high = s.live_keys;
  const int64_t position = i + s.offset;
  if (r.causal) high = std::min(high, r.strict ? position : position + 1);
  if (r.window_right >= 0) high = std::min(high, position + r.window_right + 1);
  if (r.custom) {
    const auto [first, last] = r.custom->keys(r.custom->self, b, h, i, s.keys);
    low = std::max(low, first);
    high = std::min(high, last);
  }
  if (r.centre && !r.centre_picks) {
    const double centre = r.centre[row_index(p, b, h, i)];
    const double first = std::ceil(centre - static_cast<double>(r.centre_half_width));
    const double last = std::floor(centre + static_cast<double>(r.centre_half_width)) + 1.0;
    // Compared as doubles: a centre may be any number, also NaN (which sees nothing).
    low = first > static_cast<double>(low) ? static_cast<int64_t>(std::min(first, 2147483647.0)) : low;
    high = last < static_cast<double>(high) ? static_cast<int64_t>(std::max(last, 0.0)) : high;
    if (!(centre == centre)) high = low;
  }
  // ... then what the prefix is exempt from.
  const int64_t prefix_high = std::clamp<int64_t>(high, 0, std::max<int64_t>(r.always_visible, 0));
  const int64_t prefix_low = low < prefix_high ? low : 0;
  const int64_t prefix = low < prefix_high ? prefix_high : 0;
  if (r.window_left >= 0) low = std::max(low, position - r.window_left);
  if (r.query_documents) {
    const auto [first, last] = document_keys(p, s, b, i);
    low = std::max(low, first);
    high = std::min(high, last);
  }
  KeyRange range;
  range.low = static_cast<int32_t>(std::min(low, s.keys));
  range.high = static_cast<int32_t>(std::max<int64_t>(high, range.low));
  range.prefix_low = static_cast<int32_t>(prefix_low);
  range.prefix = static_cast<int32_t>(prefix);
  if (range.low <= range.prefix) {  // one range after all
    range.high = std::max(range.high, range.prefix);
    range.low = range.prefix > 0 ? range.prefix_low : range.low;
    range.prefix_low = range.prefix = 0;
  }
  if (r.not_self && position >= 0 && position < s.keys) range.except = static_cast<int32_t>(position);
  return range;
}

void visible_keys(const Problem& p, const Sequence& s, const BlockTask& task, KeyRange* ranges) {
  const Region& r = p.region;
  const int64_t first = task.first_query, count = task.count;
  const bool centred = r.centre && !r.centre_picks;
  const bool same = !r.causal && !r.not_self && r.window_left < 0 && r.window_right < 0 && !r.custom && !centred &&
                    !r.query_documents;
  if (same && count > 0) {
    const int64_t live = std::clamp<int64_t>(s.live_queries - first, 0, count);
    std::fill_n(ranges, live, visible_keys(p, s, task.batch, task.head, first));
    std::fill_n(ranges + live, count - live, KeyRange{});
    return;
  }
  for (int64_t c = 0; c < count; ++c) ranges[c] = visible_keys(p, s, task.batch, task.head, first + c);
}

Cover cover(const Problem& p, const Tile& t, const KeyRange* ranges) {
  bool all = true, any = false;
  const int64_t last = t.key + t.keys;
  for (int c = 0; c < t.queries; ++c) {
    const KeyRange& range = ranges[c];
    all &= range.low <= t.key && last <= range.high && (range.except < t.key || range.except >= last);
    any |= (range.low < last && t.key < range.high) || (range.prefix_low < last && t.key < range.prefix);
  }
  if (!any) return Cover::none;
  if (!hides_single_pairs(p.region)) return all ? Cover::all : Cover::some;
  bool mask_all = true, mask_any = false;
  uint8_t spread[kMostKeys];
  for (int c = 0; c < t.queries; ++c) {
    if (p.region.mask) {
      const uint8_t* row = mask_row(p.region, t, c, spread);
      uint8_t any_byte = 0, zero_byte = 0;
      for (int j = 0; j < t.keys; ++j) any_byte |= row[j], zero_byte |= row[j] == 0;
      mask_any |= any_byte != 0;
      mask_all &= zero_byte == 0;
    }
    if (mask_any && !mask_all) return Cover::some;
  }
  if (p.region.mask && !mask_any) return Cover::none;
  return all && mask_all && !user_hides(p.region) ? Cover::all : Cover::some;
}

bool hides_single_pairs(const Region& r) { return r.mask || user_hides(r); }

void mask_penalties(const Region& r, const Tile& t, float* penalties) {
  constexpr float kHidden = -std::numeric_limits<float>::infinity();
  uint8_t spread[kMostKeys];
  for (int c = 0; c < t.queries; ++c) {
    float* out = penalties + static_cast<int64_t>(c) * t.keys;
    if (r.mask) {
      const uint8_t* row = mask_row(r, t, c, spread);
      for (int j = 0; j < t.keys; ++j) out[j] = row[j] ? 0.0f : kHidden;
    } else {
      std::fill_n(out, t.keys, 0.0f);
    }
    if (user_hides(r))
      for (int j = 0; j < t.keys; ++j)
        if (!r.custom->visible(r.custom->self, t.batch, t.head, t.query + c, t.key + j)) out[j] = kHidden;
  }
}

}  // namespace heed::kernels
