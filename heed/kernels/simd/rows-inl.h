// Rows of any stride into blocks of whole vectors, and back. Per instruction set.
#if defined(HEED_KERNELS_SIMD_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_SIMD_ROWS_INL_H_
#undef HEED_KERNELS_SIMD_ROWS_INL_H_
#else
#define HEED_KERNELS_SIMD_ROWS_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "heed/kernels/loop/tile.h"
#include "heed/kernels/simd/vector-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

/// Calls store(tag, r, c, v) so that every element is stored once: v holds column c of the rows r, r + 1, ... as many
/// as the tag has lanes. The one transposition of the library: packing queries, adding a bias tensor or a mask, its
/// gradient.
template <class Store>
HWY_INLINE void ForTransposed(Rows rows, size_t count, size_t width, Store&& store) {
  size_t r = 0;
#if HWY_TARGET != HWY_SCALAR
  // 4 x 4 blocks, one in each 128-bit part of a vector: block b takes the rows r + 4 b ..., so that a column comes out
  // in order.
  const auto strips = [&](auto d) HWY_ATTR {
    using D = decltype(d);
    const hn::Repartition<double, D> d2;
    constexpr size_t kRows = hn::MaxLanes(D());
    for (; r + kRows <= count; r += kRows) {
      const float* at = rows.data + static_cast<int64_t>(r) * rows.row;
      const auto load = [&](const float* from) HWY_ATTR {
        auto v = hn::LoadDup128(d, from);
        if constexpr (kRows >= 8) v = hn::IfThenElse(hn::FirstN(d, 4), v, hn::LoadDup128(d, from + 4 * rows.row));
        if constexpr (kRows >= 16) {
          v = hn::IfThenElse(hn::FirstN(d, 8), v, hn::LoadDup128(d, from + 8 * rows.row));
          v = hn::IfThenElse(hn::FirstN(d, 12), v, hn::LoadDup128(d, from + 12 * rows.row));
        }
        return v;
      };
      const size_t blocks = width / 4 * 4;
      for (size_t c = 0; c < blocks; c += 4) {
        const auto r0 = load(at + c), r1 = load(at + c + rows.row);
        const auto r2 = load(at + c + 2 * rows.row), r3 = load(at + c + 3 * rows.row);
        const auto low01 = hn::BitCast(d2, hn::InterleaveLower(d, r0, r1));
        const auto low23 = hn::BitCast(d2, hn::InterleaveLower(d, r2, r3));
        const auto high01 = hn::BitCast(d2, hn::InterleaveUpper(d, r0, r1));
        const auto high23 = hn::BitCast(d2, hn::InterleaveUpper(d, r2, r3));
        store(d, r, c + 0, hn::BitCast(d, hn::InterleaveLower(d2, low01, low23)));
        store(d, r, c + 1, hn::BitCast(d, hn::InterleaveUpper(d2, low01, low23)));
        store(d, r, c + 2, hn::BitCast(d, hn::InterleaveLower(d2, high01, high23)));
        store(d, r, c + 3, hn::BitCast(d, hn::InterleaveUpper(d2, high01, high23)));
      }
      for (size_t c = blocks; c < width; ++c) {
        float column[kRows];
        for (size_t i = 0; i < kRows; ++i) column[i] = at[static_cast<int64_t>(i) * rows.row + static_cast<int64_t>(c)];
        store(d, r, c, hn::LoadU(d, column));
      }
    }
  };
  if (rows.col == 1) {
    if constexpr (kLanes <= 16) strips(F32());
    if constexpr (kLanes > 4) strips(hn::CappedTag<float, 4>());
  }
#endif
  const hn::CappedTag<float, 1> d1;
  for (; r < count; ++r)
    for (size_t c = 0; c < width; ++c)
      store(d1, r, c, hn::Set(d1, *rows.at(static_cast<int64_t>(r), static_cast<int64_t>(c))));
}

/// A block of packed rows, one every `stride` floats.
struct PackedRows {
  float* data;
  size_t stride;
};
struct VectorRows {
  const float* data;
  size_t stride;

  const float* row(size_t r) const { return data + r * stride; }
};

/// to[c * stride + r] = scale * rows[r][c]; columns r >= count up to `stride`, which is whole vectors, become 0.
HWY_INLINE void PackTransposed(Rows rows, size_t count, size_t width, float scale, PackedRows to) {
  float* const out = to.data;
  const size_t stride = to.stride;
  // Whole vectors of zeros first, by stores in line: for one query a fill per column took longer than the rest.
  const F32 all;
  for (size_t c = 0; c < width; ++c)
    for (size_t r = count / kLanes * kLanes; r < stride; r += kLanes)
      hn::StoreU(hn::Zero(all), all, out + c * stride + r);
  ForTransposed(rows, count, width, [=](auto d, size_t r, size_t c, auto v) HWY_ATTR {
    hn::StoreU(hn::Mul(v, hn::Set(d, scale)), d, out + c * stride + r);
  });
}

/// to[r * stride + c] = scale * rows[r][c], padded with 0 to whole vectors.
HWY_INLINE void PackRows(Rows rows, size_t count, size_t width, float scale, PackedRows to) {
  const F32 d;
  float* out = to.data;
  const size_t stride = to.stride;
  for (size_t r = 0; r < count; ++r, out += stride) {
    const float* from = rows.data + static_cast<int64_t>(r) * rows.row;
    const size_t whole = rows.col == 1 ? width / kLanes * kLanes : 0;
    for (size_t c = 0; c < whole; c += kLanes)
      hn::StoreU(hn::Mul(hn::Set(d, scale), hn::LoadU(d, from + c)), d, out + c);
    for (size_t c = whole; c < width; ++c) out[c] = scale * from[static_cast<int64_t>(c) * rows.col];
    for (size_t c = width; c < stride; ++c) out[c] = 0.0f;
  }
}

/// rows[r][c] = scale * packed[r * stride + c]
HWY_INLINE void UnpackRows(VectorRows packed, size_t count, size_t width, float scale, MutableRows rows) {
  const F32 d;
  const float* from = packed.data;
  for (size_t r = 0; r < count; ++r, from += packed.stride) {
    float* to = rows.data + static_cast<int64_t>(r) * rows.row;
    const size_t whole = rows.col == 1 ? width / kLanes * kLanes : 0;
    for (size_t c = 0; c < whole; c += kLanes)
      hn::StoreU(hn::Mul(hn::Set(d, scale), hn::LoadU(d, from + c)), d, to + c);
    for (size_t c = whole; c < width; ++c) to[static_cast<int64_t>(c) * rows.col] = scale * from[c];
  }
}

/// rows[r][c] += from[r * stride + c]
HWY_INLINE void AddRows(const float* from, size_t stride, size_t count, size_t width, MutableRows rows) {
  for (size_t r = 0; r < count; ++r, from += stride)
    for (size_t c = 0; c < width; ++c) *rows.at(static_cast<int64_t>(r), static_cast<int64_t>(c)) += from[c];
}

/// True if rows can be written in place as whole vectors.
HWY_INLINE bool InPlace(MutableRows rows, size_t width) { return rows.col == 1 && width == PadToLanes(width); }

/// `rows` as whole, aligned vectors: in place if they already are, otherwise a padded copy in `scratch`, written by
/// MakeWholeVectors(). A load across cache lines costs twice as much, and each row is loaded many times.
HWY_INLINE VectorRows WholeVectors(Rows rows, size_t width, const float* scratch) {
  const bool aligned = reinterpret_cast<uintptr_t>(rows.data) % (kLanes * sizeof(float)) == 0 &&
                       rows.row % static_cast<int64_t>(kLanes) == 0;
  if (rows.col == 1 && width == PadToLanes(width) && aligned) return {rows.data, static_cast<size_t>(rows.row)};
  return {scratch, PadToLanes(width)};
}
HWY_INLINE void MakeWholeVectors(Rows rows, size_t count, size_t width, float* scratch) {
  if (WholeVectors(rows, width, scratch).data == scratch)
    PackRows(rows, count, width, 1.0f, {scratch, PadToLanes(width)});
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
