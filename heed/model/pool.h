// The states of a text -> one vector, without attention: see heed/model/choices.h for the words.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "heed/layer/linear.h"
#include "heed/model/choices.h"
#include "heed/tensor/op/activation.h"
#include "heed/tensor/op/pool.h"

namespace heed::model {

/// states [tokens, width], packed -> [sequences, width]. Not with Pool::attention.
inline Tensor pooled(const Packed& states, Pool how) {
  if (how == Pool::first) return first_of_sequences(states);
  return how == Pool::max ? max_of_sequences(states) : mean_of_sequences(states);
}

/// f(W x + b) of what was pooled, or nothing.
struct PoolLayer {
  Linear linear;
  std::optional<Activation> activation;

  PoolLayer() = default;
  /// `word`: of kPoolLayers.
  PoolLayer(const Scope& scope, const std::string& word, int64_t width)
      : activation(value_of(kPoolLayers, word, "model: pool_layer")) {
    if (activation) linear = Linear(scope, width, width);
  }
  /// x [n, width] -> [n, width]
  Tensor operator()(Tensor x) const { return activation ? activate(linear(x), *activation) : x; }
};

}  // namespace heed::model
