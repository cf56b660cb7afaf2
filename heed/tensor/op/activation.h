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
  silu,
  gelu_tanh,
  gelu_sigmoid
};  // gelu: the exact form x Phi(x); silu: x sigmoid(x)
    // gelu_tanh: x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2; gelu_sigmoid: x sigmoid(1.702 x).
    // Hendrycks and Gimpel 2016, approximations that some models were trained with

Tensor activate(Tensor x, Activation f);

inline Tensor tanh(Tensor x) { return activate(x, Activation::tanh); }
inline Tensor relu(Tensor x) { return activate(x, Activation::relu); }
inline Tensor sigmoid(Tensor x) { return activate(x, Activation::sigmoid); }
inline Tensor gelu(Tensor x) { return activate(x, Activation::gelu); }

}  // namespace heed
