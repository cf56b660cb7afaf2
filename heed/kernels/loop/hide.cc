#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/loop/hide.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#include "heed/kernels/loop/hide.h"
#include "heed/kernels/simd/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

/// Keeps the pairs with low <= key < high or prefix_low <= key < prefix, but for key = except. The bounds of a vector
/// of queries are loaded once.
void HideOutsideRanges(const Tile& t, const KeyRange* ranges) {
  const F32 d;
  const I32 di;
  for (int c = 0; c < t.queries; c += kLanes) {
    int32_t low[kLanes], high[kLanes], prefix_low[kLanes], prefix[kLanes], except[kLanes];
    for (int i = 0; i < static_cast<int>(kLanes); ++i) {
      const KeyRange range = c + i < t.queries ? ranges[c + i] : KeyRange{};
      low[i] = range.low, high[i] = range.high;
      prefix_low[i] = range.prefix_low, prefix[i] = range.prefix;
      except[i] = range.except;
    }
    const auto from = hn::LoadU(di, low), to = hn::LoadU(di, high);
    const auto prefix_from = hn::LoadU(di, prefix_low), prefix_to = hn::LoadU(di, prefix);
    const auto hidden = hn::LoadU(di, except);
    for (int r = 0; r < t.keys; ++r) {
      const auto key = hn::Set(di, static_cast<int32_t>(t.key) + r);
      const auto in_range = hn::AndNot(hn::Lt(key, from), hn::Lt(key, to));
      const auto in_either = hn::Or(in_range, hn::AndNot(hn::Lt(key, prefix_from), hn::Lt(key, prefix_to)));
      const auto seen = hn::AndNot(hn::Eq(key, hidden), in_either);
      float* at = t.at + r * t.stride + c;
      hn::StoreU(hn::IfThenElse(hn::RebindMask(d, seen), hn::LoadU(d, at), hn::Set(d, kMinusInfinity)), d, at);
    }
  }
}

/// tile[key][query] += penalties[query][key]
void AddTransposed(const Tile& t, const float* penalties) {
  ForTransposed(Rows{penalties, t.keys, 1}, t.queries, t.keys, [&](auto d, size_t query, size_t key, auto v) HWY_ATTR {
    float* at = t.at + key * t.stride + query;
    hn::StoreU(hn::Add(hn::LoadU(d, at), v), d, at);
  });
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {
HWY_EXPORT(HideOutsideRanges);
HWY_EXPORT(AddTransposed);

void hide(const Problem& p, const Tile& t, const KeyRange* ranges, float* penalties) {
  HWY_DYNAMIC_DISPATCH(HideOutsideRanges)(t, ranges);
  if (!hides_single_pairs(p.region)) return;
  mask_penalties(p.region, t, penalties);
  HWY_DYNAMIC_DISPATCH(AddTransposed)(t, penalties);
}
}  // namespace heed::kernels
#endif
