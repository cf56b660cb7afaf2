#include "heed/tensor/forward_product.h"

#include <algorithm>

#include "heed/tensor/gemm.h"
#include "heed/tensor/parallel.h"
#include "heed/tensor/tape.h"

namespace heed {

ForwardProduct::ForwardProduct(Tensor weight, WeightOrder order)
    : view_(order == WeightOrder::kOutIn ? WeightView{weight.data(), weight.cols(), weight.rows(), order}
                                         : WeightView{weight.data(), weight.rows(), weight.cols(), order}) {
  if (weight.tape().recording()) return;
  const Parameter* parameter = weight.parameter();
  packed_ = parameter ? parameter->value.packed(view_) : std::make_shared<const PackedWeight>(view_);
}

void ForwardProduct::operator()(const RowProduct& p) const {
  if (packed_) return multiply(*packed_, p);
  const int64_t in = view_.in, out = view_.out;
  if (p.bias)  // the product is added to it
    for_pieces(p.rows, out, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) std::copy_n(p.bias, out, p.y + r * out);
    });
  const bool out_in = view_.order == WeightOrder::kOutIn;
  gemm({.m = p.rows,
        .n = out,
        .k = in,
        .a = p.x,
        .b = view_.data,
        .c = p.y,
        .a_stride = in,
        .b_stride = out_in ? in : out,
        .c_stride = out,
        .b_transposed = out_in,
        .beta = p.bias ? 1.0f : 0.0f});
}

}  // namespace heed
