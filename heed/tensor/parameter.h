// A named array that training changes. It outlives every tape.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "heed/tensor/parameter_storage.h"

namespace heed {

struct Parameter {
  std::string name;             // stable and readable: "encoder.0.query.weight"; never a path through C++ types
  std::vector<int64_t> shape;   // [n] or [rows, cols]
  ParameterStorage value;       // row-major
  std::vector<float> gradient;  // same size; meaningful only if has_gradient
  bool has_gradient = false;    // false: the next backward overwrites `gradient`, so it need not be zeroed
  bool trainable = true;        // false: no gradient is computed
  /// Of a weight: how products read it. They alone do, and whoever takes single rows, so that inference needs it in no
  /// other form. None: operations read the numbers.
  std::optional<WeightOrder> product = {};

  int64_t rows() const { return shape.size() == 1 ? 1 : shape.front(); }
  int64_t cols() const { return shape.back(); }
  int64_t size() const { return rows() * cols(); }

  /// A weight, for inference alone: one copy, packed for its products in this format. Anything else stays as it is.
  void pack(const WeightFormat& format) {
    if (product && !value.empty())
      *product == WeightOrder::out_in ? value.pack(format, cols(), rows(), *product)
                                      : value.pack(format, rows(), cols(), *product);
  }
};

}  // namespace heed
