// One call of the fused loop on NumPy arrays.
#pragma once

#include <vector>

#include "bindings.h"
#include "heed/kernels/attention.h"

namespace heed::python {

/// Holds every array that the problem points to.
class Fused {
 public:
  /// q, k, v: [B, heads, T, width] of any strides; ragged: [heads, tokens, width].
  Fused(const py::array& q, const py::array& k, const py::array& v, const py::dict& options);

  /// `out` like q, with the values' width. `keep`: the weights or a backward will be asked for.
  void forward(const py::array& out, bool keep);
  /// What forward() saved for a backward() of softmax, [2 * rows]; and the reverse, so that it may be another call.
  py::array saved() const;
  void resume(const py::array& saved);
  /// Dense, [B, H, longest queries, longest keys].
  py::array weights() const;
  /// Writes the gradients that `into` has arrays for: q, k, v (any strides), bias, sink, alibi_slopes (without gaps).
  void backward(const py::array& out, const py::array& d_out, const py::dict& into) const;

 private:
  friend class FusedReader;
  kernels::Outputs outputs() const;

  std::vector<py::object> held_;
  kernels::Problem problem_;
  kernels::Inputs in_;
  std::vector<float> saved_, forced_saved_, kept_scores_;
  std::vector<int32_t> choice_;
};

}  // namespace heed::python
