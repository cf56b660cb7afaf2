#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/loop/values.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#include <algorithm>

#include "heed/kernels/loop/values.h"
#include "heed/kernels/simd/gemm-inl.h"
#include "heed/kernels/simd/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

class Values final : public ValueKernel {
 public:
  explicit Values(const Problem& p) : dim_(p.shape.value_dim), padded_(PadToLanes(dim_)) {}

  size_t padded() const override { return padded_; }
  size_t value_floats(size_t keys) const override { return keys * padded_; }
  size_t query_floats(size_t width) const override { return dim_ * width + width * padded_; }

  void load_values(Rows v, int count, float* scratch) const override { MakeWholeVectors(v, count, dim_, scratch); }

  // out [queries, Dv] += P [queries, keys] V [keys, Dv]
  void forward(const Tile& w, Rows v, const float* scratch, float* out, bool first) const override {
    const VectorRows rows = WholeVectors(v, dim_, scratch);
    const auto gemm = first ? Gemm<false> : Gemm<true>;
    gemm({w.at, 1, w.stride}, {rows.row(w.row), rows.stride}, {out + w.lane * padded_, padded_},
         {w.queries, padded_, w.keys});
  }

  bool forward_to_rows(const Tile& w, const float* factor, Rows v, const float* scratch,
                       MutableRows rows) const override {
    if (!InPlace(rows, dim_)) return false;
    const F32 d;
    for (int c = 0; c < w.queries; c += kLanes) {
      const V32 f = hn::LoadU(d, factor + w.lane + c);
      for (int r = 0; r < w.keys; ++r) {
        float* at = w.at + r * w.stride + c;
        hn::StoreU(hn::Mul(f, hn::LoadU(d, at)), d, at);
      }
    }
    const VectorRows from = WholeVectors(v, dim_, scratch);
    Gemm<false>({w.at, 1, w.stride}, {from.row(w.row), from.stride}, {rows.data, rows.row},
                {w.queries, padded_, w.keys});
    return true;
  }

  void rescale(float* out, const float* factor, int lane, int count) const override {
    const F32 d;
    for (int r = lane; r < lane + count; ++r) {
      if (factor[r] == 1.0f) continue;
      const V32 f = hn::Set(d, factor[r]);
      for (size_t c = 0; c < padded_; c += kLanes) {
        float* at = out + r * padded_ + c;
        hn::StoreU(hn::Mul(f, hn::LoadU(d, at)), d, at);
      }
    }
  }

  void store(const float* out, const float* factor, int count, MutableRows rows) const override {
    for (int r = 0; r < count; ++r)
      UnpackRows({out + r * padded_, padded_}, 1, dim_, factor ? factor[r] : 1.0f, rows.from(r));
  }

  void load_d_out(Rows d_out, int count, size_t width, float* scratch) const override {
    PackTransposed(d_out, count, dim_, 1.0f, {scratch, width});
    MakeWholeVectors(d_out, count, dim_, scratch + dim_ * width);
  }

  void row_dots(const float* d_out, size_t width, Rows out, int count, float* dots) const override {
    std::fill_n(dots, PadToLanes(count), 0.0f);
    ForTransposed(out, count, dim_, [=](auto d, size_t r, size_t c, auto v) HWY_ATTR {
      hn::StoreU(hn::MulAdd(v, hn::LoadU(d, d_out + c * width + r), hn::LoadU(d, dots + r)), d, dots + r);
    });
  }

  // dP^T [keys, queries] = V [keys, Dv] dO^T [Dv, queries]
  void d_weights(const Tile& d, Rows v, const float* d_out, size_t width) const override {
    const Rows rows = v.from(d.row);
    Gemm<false>({rows.data, static_cast<size_t>(rows.row), static_cast<size_t>(rows.col)}, {d_out + d.lane, width},
                {d.at, d.stride}, {d.keys, PadToLanes(d.queries), dim_});
  }

  // dV [keys, Dv] += P^T [keys, queries] dO [queries, Dv]
  void d_values(const Tile& w, const LoadedOutputGradient& d_out, MutableRows d_v, float* scratch) const override {
    const VectorRows rows = WholeVectors(d_out.rows, dim_, d_out.scratch + dim_ * d_out.width);
    const MutableRows target = d_v.from(w.row);
    if (InPlace(d_v, dim_)) {
      Gemm<true>({w.at, w.stride, 1}, {rows.row(w.lane), rows.stride}, {target.data, target.row},
                 {w.keys, padded_, w.queries});
    } else {
      Gemm<false>({w.at, w.stride, 1}, {rows.row(w.lane), rows.stride}, {scratch, padded_},
                  {w.keys, padded_, w.queries});
      AddRows(scratch, padded_, w.keys, dim_, target);
    }
  }

 private:
  size_t dim_, padded_;
};

ArenaPtr<ValueKernel> MakeValues(const Problem& p, CallArena& arena) { return arena.make<Values>(p); }
int VectorLanes() { return static_cast<int>(kLanes); }

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {
HWY_EXPORT(MakeValues);
HWY_EXPORT(VectorLanes);
ArenaPtr<ValueKernel> make_values(const Problem& p, CallArena& arena) {
  return HWY_DYNAMIC_DISPATCH(MakeValues)(p, arena);
}
int vector_lanes() { return HWY_DYNAMIC_DISPATCH(VectorLanes)(); }
}  // namespace heed::kernels
#endif
