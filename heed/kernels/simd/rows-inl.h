// Rows of any stride into blocks of whole vectors, and back. Per instruction set.
#if defined(HEED_KERNELS_SIMD_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_SIMD_ROWS_INL_H_
#undef HEED_KERNELS_SIMD_ROWS_INL_H_
#else
#define HEED_KERNELS_SIMD_ROWS_INL_H_
#endif

#include <cstddef>

#include "heed/kernels/loop/tile.h"
#include "heed/kernels/simd/vector-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

/// Calls store(r, c, v) with v = column c of rows r .. r + 3, for a 4 x 4 block at a time where rows are contiguous.
/// The one transposition of the library: packing queries, adding a bias tensor, reading weights out.
template <class Store4, class Store1>
HWY_INLINE void ForTransposed(Rows rows, size_t count, size_t width, Store4&& store4, Store1&& store1) {
  size_t r = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::CappedTag<float, 4> d4;
  const hn::Repartition<double, decltype(d4)> d2;
  if (rows.col == 1) {
    for (; r + 4 <= count; r += 4) {
      const float* at = rows.data + static_cast<int64_t>(r) * rows.row;
      size_t c = 0;
      for (; c + 4 <= width; c += 4) {
        const auto r0 = hn::LoadU(d4, at + c);
        const auto r1 = hn::LoadU(d4, at + c + rows.row);
        const auto r2 = hn::LoadU(d4, at + c + 2 * rows.row);
        const auto r3 = hn::LoadU(d4, at + c + 3 * rows.row);
        const auto low01 = hn::BitCast(d2, hn::InterleaveLower(d4, r0, r1));
        const auto low23 = hn::BitCast(d2, hn::InterleaveLower(d4, r2, r3));
        const auto high01 = hn::BitCast(d2, hn::InterleaveUpper(d4, r0, r1));
        const auto high23 = hn::BitCast(d2, hn::InterleaveUpper(d4, r2, r3));
        store4(r, c + 0, hn::BitCast(d4, hn::InterleaveLower(d2, low01, low23)));
        store4(r, c + 1, hn::BitCast(d4, hn::InterleaveUpper(d2, low01, low23)));
        store4(r, c + 2, hn::BitCast(d4, hn::InterleaveLower(d2, high01, high23)));
        store4(r, c + 3, hn::BitCast(d4, hn::InterleaveUpper(d2, high01, high23)));
      }
      for (; c < width; ++c)
        for (size_t i = 0; i < 4; ++i) store1(r + i, c, at[i * rows.row + c]);
    }
  }
#else
  (void)store4;
#endif
  for (; r < count; ++r)
    for (size_t c = 0; c < width; ++c) store1(r, c, *rows.at(r, c));
}

/// out[c * stride + r] = scale * rows[r][c]; columns r >= count up to `stride` become 0.
HWY_INLINE void PackTransposed(Rows rows, size_t count, size_t width, float scale, float* out, size_t stride) {
#if HWY_TARGET != HWY_SCALAR
  const hn::CappedTag<float, 4> d4;
  const auto factor = hn::Set(d4, scale);
#endif
  ForTransposed(
      rows, count, width,
      [&](size_t r, size_t c, auto v) HWY_ATTR {
#if HWY_TARGET != HWY_SCALAR
        hn::StoreU(hn::Mul(v, factor), d4, out + c * stride + r);
#else
        (void)r, (void)c, (void)v;
#endif
      },
      [&](size_t r, size_t c, float x) HWY_ATTR { out[c * stride + r] = scale * x; });
  if (count < stride)
    for (size_t c = 0; c < width; ++c)
      for (size_t r = count; r < stride; ++r) out[c * stride + r] = 0.0f;
}

/// out[r * stride + c] = scale * rows[r][c], padded with 0 to whole vectors.
HWY_INLINE void PackRows(Rows rows, size_t count, size_t width, float scale, float* out, size_t stride) {
  for (size_t r = 0; r < count; ++r) {
    for (size_t c = 0; c < width; ++c) out[r * stride + c] = scale * *rows.at(r, c);
    for (size_t c = width; c < stride; ++c) out[r * stride + c] = 0.0f;
  }
}

/// True where rows can be read and written as whole vectors where they stand.
HWY_INLINE bool InPlace(int64_t col, size_t width) { return col == 1 && width == PadToLanes(width); }

struct VectorRows {
  const float* data;
  size_t stride;
};

/// `rows` as whole vectors: where they stand if their width allows, otherwise a padded copy in `scratch`.
HWY_INLINE VectorRows WholeVectors(Rows rows, size_t count, size_t width, float* scratch) {
  if (InPlace(rows.col, width)) return {rows.data, static_cast<size_t>(rows.row)};
  PackRows(rows, count, width, 1.0f, scratch, PadToLanes(width));
  return {scratch, PadToLanes(width)};
}

/// target[r][c] += rows[r * stride + c]
HWY_INLINE void AddRows(const float* rows, size_t stride, size_t count, size_t width, MutableRows target) {
  for (size_t r = 0; r < count; ++r)
    for (size_t c = 0; c < width; ++c) *target.at(r, c) += rows[r * stride + c];
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
