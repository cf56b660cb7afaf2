// The one matrix product of the loop, per instruction set: C (+)= A B with C and B in rows of whole vectors. Compiled
// once, in simd/gemm.cc.
//
// Tiles keep keys down the rows and queries across the lanes. So every product of the loop, forward and backward, reads
// its left operand one broadcast at a time, through two strides, and its right operand and result as contiguous rows:
//   scores^T = K Q^T      A = K rows in place           B = Q^T packed once per query block
//   out     += P V        A = P^T read down a column    B = V rows in place
//   dP^T     = V dO^T     A = V rows in place           B = dO^T packed once per query block
//   dV      += P^T dO     A = P^T rows                  B = dO rows in place
//   dK      += dS^T Q     A = dS^T rows                 B = Q rows in place
//   dQ      += dS K       A = dS^T read down a column   B = K rows in place
#if defined(HEED_KERNELS_SIMD_GEMM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_SIMD_GEMM_INL_H_
#undef HEED_KERNELS_SIMD_GEMM_INL_H_
#else
#define HEED_KERNELS_SIMD_GEMM_INL_H_
#endif

#include <cstddef>

#include "heed/kernels/simd/vector-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

/// An [M, depth] matrix read element by element: a[r * row + p * depth].
struct LeftOperand {
  const float* data;
  size_t row;
  size_t depth;
};

/// Rows of whole vectors, one every `stride` floats: B, and C.
template <class T>
struct ProductRows {
  ProductRows(T* rows, auto from_row_to_row) : data(rows), stride(static_cast<size_t>(from_row_to_row)) {}

  T* data;
  size_t stride;
};

struct ProductSize {
  ProductSize(auto rows_of_c, auto cols_of_c, auto terms)
      : rows(static_cast<size_t>(rows_of_c)), cols(static_cast<size_t>(cols_of_c)), depth(static_cast<size_t>(terms)) {}

  size_t rows, cols, depth;
};

/// C [rows, cols] = A [rows, depth] B [depth, cols], or += with `add`. cols is a multiple of kLanes.
void Multiply(bool add, LeftOperand a, ProductRows<const float> b, ProductRows<float> c, ProductSize size);

template <bool kAccumulate>
HWY_INLINE void Gemm(LeftOperand a, ProductRows<const float> b, ProductRows<float> c, ProductSize size) {
  Multiply(kAccumulate, a, b, c, size);
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
