#include "heed/tensor/weight_product.h"

#include "heed/tensor/tape.h"

namespace heed {

WeightProduct::WeightProduct(Tensor weight, WeightOrder order) {
  const bool out_in = order == WeightOrder::out_in;
  const WeightView view{weight.is_packed() ? nullptr : weight.data(), out_in ? weight.cols() : weight.rows(),
                        out_in ? weight.rows() : weight.cols(), order};
  const Parameter* parameter = weight.parameter();
  packed_ = parameter ? parameter->value.packed(view) : float32_weights.pack(view);
}

}  // namespace heed
