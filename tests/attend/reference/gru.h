// A GRU, gate by gate. Cho et al. 2014, in the order and with the two biases of PyTorch.
#pragma once

#include <string>

#include "tests/attend/reference/matrix.h"

namespace heed::attend::test {

/// h' = (1 - z) n + z h;  r, z = sigmoid(W x + b + U h + c);  n = tanh(W x + b + r (U h + c))
inline Row gru_cell(const Values& x, const std::string& name, const Row& input, const Row& h) {
  const Row wx = plus(times(at(x, name + ".input.weight"), input), row_of(at(x, name + ".input.bias"), 0));
  const Row uh = plus(times(at(x, name + ".state.weight"), h), row_of(at(x, name + ".state.bias"), 0));
  const size_t n = h.size();
  Row next(n);
  for (size_t d = 0; d < n; ++d) {
    const double reset = sigmoid_of(wx[d] + uh[d]), update = sigmoid_of(wx[n + d] + uh[n + d]);
    const double fresh = std::tanh(wx[2 * n + d] + reset * uh[2 * n + d]);
    next[d] = (1.0 - update) * fresh + update * h[d];
  }
  return next;
}

/// [rows, in] -> [rows, 2 h]: a run from the front, beside it one from the back, both starting from zero.
inline Matrix bidirectional_gru(const Values& x, const std::string& name, const Matrix& rows) {
  const int64_t width = at(x, name + ".0.forward.state.weight").cols;
  Matrix out(rows.rows, 2 * width);
  Row ahead(width, 0.0), back(width, 0.0);
  for (int64_t r = 0; r < rows.rows; ++r) {
    const int64_t from_end = rows.rows - 1 - r;
    ahead = gru_cell(x, name + ".0.forward", row_of(rows, r), ahead);
    back = gru_cell(x, name + ".0.backward", row_of(rows, from_end), back);
    for (int64_t d = 0; d < width; ++d) out(r, d) = ahead[d], out(from_end, width + d) = back[d];
  }
  return out;
}

}  // namespace heed::attend::test
