// y = f(x), element by element.
#pragma once

#include "heed/tensor/tensor.h"

namespace heed {

enum class Activation {
  identity,
  tanh,
  relu,
  sigmoid,
  gelu,
  silu
};  // gelu: the exact form x Phi(x); silu: x sigmoid(x)

Tensor activate(Tensor x, Activation f);

inline Tensor tanh(Tensor x) { return activate(x, Activation::tanh); }
inline Tensor relu(Tensor x) { return activate(x, Activation::relu); }
inline Tensor sigmoid(Tensor x) { return activate(x, Activation::sigmoid); }
inline Tensor gelu(Tensor x) { return activate(x, Activation::gelu); }

}  // namespace heed
