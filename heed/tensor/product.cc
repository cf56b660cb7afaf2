#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/tensor/product.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#include <new>

#include "heed/kernels/threads.h"
#include "heed/tensor/gradient_product-inl.h"
#include "heed/tensor/product.h"
#include "heed/tensor/profile.h"

#if HWY_ONCE
namespace heed {
namespace {

HWY_EXPORT(GradientTile);

/// Memory that a thread keeps for its copies of both sides of a gradient.
float* gradient_scratch() {
  constexpr auto kAlignment = std::align_val_t{128};  // a row of a panel: two cache lines
  struct Scratch {
    float* data = static_cast<float*>(::operator new[](kGradientScratch * sizeof(float), kAlignment));
    Scratch() = default;
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    ~Scratch() { ::operator delete[](data, kAlignment); }
  };
  static thread_local const Scratch scratch;
  return scratch.data;
}

}  // namespace

void multiply(const PackedWeight& weight, const RowProduct& product) {
  if (product.rows == 0 || weight.out() == 0) return;
  const Timed timed(Work::product);
  weight.multiply(product);
}

void multiply(const GradientProduct& product) {
  if (product.left_cols == 0 || !(product.sum || product.left_sum)) return;
  const Timed timed(Work::product);
  const int threads = kernels::most_threads();
  const ProductParts parts(product, threads);
  kernels::for_each_task(parts.count(), threads, [&](int64_t t) {
    HWY_DYNAMIC_DISPATCH(GradientTile)(product, parts.at(t), gradient_scratch());
  });
}

}  // namespace heed
#endif
