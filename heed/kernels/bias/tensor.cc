// A bias tensor read at [b, h, i, j] through strides, any of them 0, or at [h, packed row, j].
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/bias/tensor.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#include <algorithm>

#include "heed/kernels/bias/bias.h"
#include "heed/kernels/loop/sequence.h"
#include "heed/kernels/simd/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

class TensorBias final : public BiasKernel {
 public:
  TensorBias(const Problem& p, float* d_tensor) : bias_(p.bias), d_tensor_(d_tensor) {}

  void add(const Tile& t, const Sequence&) const override {
    // +inf must win without making NaN of itself: as the largest bias that still leaves room to add.
    constexpr float kMost = 1e38f;
    const Rows rows{bias_.tensor + offset(t), bias_.query, bias_.key};
    ForTransposed(rows, t.queries, t.keys, [&](auto d, size_t query, size_t key, auto v) HWY_ATTR {
      float* at = t.at + key * t.stride + query;
      hn::StoreU(hn::Add(hn::LoadU(d, at), hn::Min(hn::Set(d, kMost), v)), d, at);
    });
  }

  void backward(const Tile& t, const Sequence&, float*) const override {
    if (!d_tensor_) return;
    float* base = d_tensor_ + offset(t);
    ForTransposed(Rows{t.at, static_cast<int64_t>(t.stride), 1}, t.keys, t.queries,
                  [&](auto d, size_t key, size_t query, auto v) HWY_ATTR {
                    float* at =
                        base + static_cast<int64_t>(query) * bias_.query + static_cast<int64_t>(key) * bias_.key;
                    if (bias_.key == 1) {
                      hn::StoreU(hn::Add(hn::LoadU(d, at), v), d, at);
                      return;
                    }
                    float values[hn::MaxLanes(d)];
                    hn::StoreU(v, d, values);
                    for (size_t i = 0; i < hn::MaxLanes(d); ++i) at[static_cast<int64_t>(i) * bias_.key] += values[i];
                  });
  }

 private:
  int64_t offset(const Tile& t) const { return t.row_in(pair_strides(bias_)) + t.key * bias_.key; }

  const Bias& bias_;
  float* d_tensor_;
};

std::unique_ptr<BiasKernel> MakeTensorBias(const Problem& p, float* d_tensor) {
  return std::make_unique<TensorBias>(p, d_tensor);
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {
HWY_EXPORT(MakeTensorBias);
std::unique_ptr<BiasKernel> make_tensor_bias(const Problem& p, float* d_tensor) {
  return HWY_DYNAMIC_DISPATCH(MakeTensorBias)(p, d_tensor);
}
}  // namespace heed::kernels
#endif
