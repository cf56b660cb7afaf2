// A named array that training changes. It outlives every tape.
#pragma once

#include <cstdint>
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

  int64_t rows() const { return shape.size() == 1 ? 1 : shape.front(); }
  int64_t cols() const { return shape.back(); }
  int64_t size() const { return rows() * cols(); }
};

}  // namespace heed
