#include "heed/tensor/weight_product.h"

#include "heed/tensor/tape.h"

namespace heed {

WeightProduct::WeightProduct(Tensor weight, WeightOrder order) {
  const bool out_in = order == WeightOrder::out_in;
  const WeightView view{weight.data(), out_in ? weight.cols() : weight.rows(), out_in ? weight.rows() : weight.cols(),
                        order};
  const Parameter* parameter = weight.parameter();
  packed_ = parameter ? parameter->value.packed(view) : std::make_shared<const PackedWeight>(view);
}

}  // namespace heed
