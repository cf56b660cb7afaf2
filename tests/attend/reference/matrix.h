// The few matrix formulas that the reference needs.
#pragma once

#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/attend/reference/problem.h"

namespace heed::attend::test {

using Row = std::vector<double>;

inline const Matrix& at(const Values& x, const std::string& name) {
  const auto found = x.find(name);
  if (found == x.end()) throw std::runtime_error("the reference needs '" + name + "'");
  return found->second;
}
inline bool has(const Values& x, const std::string& name) { return x.count(name) > 0; }

/// Columns [first, first + count) of row r.
inline Row part_of_row(const Matrix& m, int64_t r, int64_t first, int64_t count) {
  const auto start = m.data.begin() + r * m.cols + first;
  return Row(start, start + count);
}
inline Row row_of(const Matrix& m, int64_t r) { return part_of_row(m, r, 0, m.cols); }

inline double inner(const Row& a, const Row& b) {
  double sum = 0.0;
  for (size_t d = 0; d < a.size(); ++d) sum += a.at(d) * b.at(d);
  return sum;
}

/// W x, W [out, in]
inline Row times(const Matrix& w, const Row& x) {
  Row y(w.rows, 0.0);
  for (int64_t o = 0; o < w.rows; ++o)
    for (int64_t d = 0; d < w.cols; ++d) y[o] += w(o, d) * x.at(d);
  return y;
}

/// W^T x, W [in, out]
inline Row times_transposed(const Matrix& w, const Row& x) {
  Row y(w.cols, 0.0);
  for (int64_t d = 0; d < w.rows; ++d)
    for (int64_t o = 0; o < w.cols; ++o) y[o] += w(d, o) * x.at(d);
  return y;
}

inline Row plus(Row a, const Row& b) {
  for (size_t d = 0; d < a.size(); ++d) a[d] += b.at(d);
  return a;
}

inline Row tanh_of(Row x) {
  for (double& value : x) value = std::tanh(value);
  return x;
}

inline double sigmoid_of(double x) { return 1.0 / (1.0 + std::exp(-x)); }

inline double activation_of(const std::string& name, double x) {
  if (name == "relu") return x > 0.0 ? x : 0.0;
  if (name == "gelu") return 0.5 * x * (1.0 + std::erf(x / std::sqrt(2.0)));
  if (name == "silu") return x * sigmoid_of(x);
  return std::tanh(x);
}

/// x W^T + b: parameters `name`.weight and, where it exists, `name`.bias.
inline Matrix linear_of(const Values& x, const std::string& name, const Matrix& rows) {
  const Matrix& weight = at(x, name + ".weight");
  Matrix y(rows.rows, weight.rows);
  for (int64_t r = 0; r < rows.rows; ++r) {
    Row out = times(weight, row_of(rows, r));
    if (has(x, name + ".bias")) out = plus(out, row_of(at(x, name + ".bias"), 0));
    for (int64_t o = 0; o < weight.rows; ++o) y(r, o) = out[o];
  }
  return y;
}

}  // namespace heed::attend::test
