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

/// C [m, n] = A [m, depth] B [depth, n], or += with `add`. n is a multiple of kLanes.
void Multiply(bool add, LeftOperand a, const float* b, size_t ldb, float* c, size_t ldc, size_t m, size_t n,
              size_t depth);

template <bool kAccumulate>
HWY_INLINE void Gemm(LeftOperand a, const float* b, size_t ldb, float* c, size_t ldc, size_t m, size_t n,
                     size_t depth) {
  Multiply(kAccumulate, a, b, ldb, c, ldc, m, n, depth);
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
