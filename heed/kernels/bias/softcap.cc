#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/bias/softcap.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#include "heed/kernels/bias/bias.h"
#include "heed/kernels/simd/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

// s' = cap tanh(s / cap)
void SoftcapForward(float cap, const Tile& t, float* keep) {
  const F32 d;
  const V32 up = hn::Set(d, cap), down = hn::Set(d, 1.0f / cap);
  for (int r = 0; r < t.keys; ++r)
    for (int c = 0; c < t.queries; c += kLanes) {
      float* at = t.at + r * t.stride + c;
      const V32 capped = hn::Mul(up, Tanh(hn::Mul(hn::LoadU(d, at), down)));
      hn::StoreU(capped, d, at);
      if (keep) hn::StoreU(capped, d, t.in(keep).at + r * t.stride + c);
    }
}

// d_s = d_s' (1 - (s' / cap)^2)
void SoftcapBackward(float cap, const Tile& t, const float* kept) {
  const F32 d;
  const V32 down = hn::Set(d, 1.0f / cap);
  const float* from = kept + t.row * t.stride + t.lane;
  for (int r = 0; r < t.keys; ++r)
    for (int c = 0; c < t.queries; c += kLanes) {
      float* at = t.at + r * t.stride + c;
      const V32 ratio = hn::Mul(hn::LoadU(d, from + r * t.stride + c), down);
      const V32 g = hn::LoadU(d, at);
      hn::StoreU(hn::NegMulAdd(hn::Mul(ratio, ratio), g, g), d, at);
    }
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {
HWY_EXPORT(SoftcapForward);
HWY_EXPORT(SoftcapBackward);
void softcap_forward(float cap, const Tile& t, float* keep) { HWY_DYNAMIC_DISPATCH(SoftcapForward)(cap, t, keep); }
void softcap_backward(float cap, const Tile& t, const float* kept) {
  HWY_DYNAMIC_DISPATCH(SoftcapBackward)(cap, t, kept);
}
}  // namespace heed::kernels
#endif
