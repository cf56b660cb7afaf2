// Rows times a weight that is a tensor, with the copy of it that its parameter keeps.
#pragma once

#include <memory>

#include "heed/tensor/product.h"
#include "heed/tensor/tensor.h"

namespace heed {

/// If the weight is not a parameter, a copy is made here. Make one per weight and operation and use it for all its
/// steps.
class WeightProduct {
 public:
  /// y = x W^T for a weight [out, in]; with in_out y = x W for a weight [in, out]. Each is the backward of the other:
  /// for y = x W^T, d_x = d_y W.
  explicit WeightProduct(Tensor weight, WeightOrder order = WeightOrder::out_in);

  void operator()(const RowProduct& product) const { multiply(*packed_, product); }

 private:
  std::shared_ptr<const PackedWeight> packed_;
};

}  // namespace heed
