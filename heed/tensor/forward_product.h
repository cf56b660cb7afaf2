// The product of an operation's forward: y = x W^T + bias, with the kernel that suits the tape.
#pragma once

#include <memory>

#include "heed/tensor/packed_weight.h"
#include "heed/tensor/tensor.h"

namespace heed {

/// On a tape that records: oneDNN (gemm.h). On one that does not: a product whose rows do not depend on each other to
/// the last bit (packed_weight.h), with the copy of the weight that its parameter keeps, or, where it is no parameter,
/// one that is made here. Make one per weight and operation and use it for all its steps.
class ForwardProduct {
 public:
  /// `weight`: [out, in], or with kInOut [in, out].
  explicit ForwardProduct(Tensor weight, WeightOrder order = WeightOrder::kOutIn);

  void operator()(const RowProduct& product) const;

 private:
  WeightView view_;
  std::shared_ptr<const PackedWeight> packed_;  // null: the tape records
};

}  // namespace heed
