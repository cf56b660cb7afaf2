// The layers written plainly from their formulas, on small matrices of double. Slow, and nothing shared with the
// library.
#pragma once

#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tests/tensor/gradient_check.h"

namespace heed::test {

/// Parameters by name, as the library names them.
using Weights = std::map<std::string, Matrix>;

inline double sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }
inline double gelu(double x) { return 0.5 * x * (1.0 + std::erf(x / std::sqrt(2.0))); }
inline double silu(double x) { return x * sigmoid(x); }
inline double relu(double x) { return x > 0.0 ? x : 0.0; }

/// x [n, in] -> [n, out] by prefix.weight [out, in] and, where there is one, prefix.bias.
inline Matrix linear(const Matrix& x, const Weights& w, const std::string& prefix) {
  const Matrix& weight = w.at(prefix + "weight");
  const auto bias = w.find(prefix + "bias");
  return make_matrix(x.rows, weight.rows, [&](int64_t n, int64_t o) {
    double sum = bias == w.end() ? 0.0 : bias->second(0, o);
    for (int64_t i = 0; i < x.cols; ++i) sum += x(n, i) * weight(o, i);
    return sum;
  });
}

/// One step of one sequence: state h (and c of an LSTM) of `hidden` numbers each, changed in place.
struct CellState {
  std::vector<double> h, c;
};
inline void gru_cell(const Matrix& in, const Matrix& from_state, int64_t row, CellState& s) {
  // in = x W^T + b [n, 3 h], from_state = h U^T + d [1, 3 h]; reset, update, new
  const auto hidden = static_cast<int64_t>(s.h.size());
  for (int64_t j = 0; j < hidden; ++j) {
    const double reset = sigmoid(in(row, j) + from_state(0, j));
    const double update = sigmoid(in(row, hidden + j) + from_state(0, hidden + j));
    const double next = std::tanh(in(row, 2 * hidden + j) + reset * from_state(0, 2 * hidden + j));
    s.h[j] = (1.0 - update) * next + update * s.h[j];
  }
}
inline void lstm_cell(const Matrix& in, const Matrix& from_state, int64_t row, CellState& s) {
  // input, forget, new, output
  const auto hidden = static_cast<int64_t>(s.h.size());
  for (int64_t j = 0; j < hidden; ++j) {
    const auto gate = [&](int64_t g) { return in(row, g * hidden + j) + from_state(0, g * hidden + j); };
    s.c[j] = sigmoid(gate(1)) * s.c[j] + sigmoid(gate(0)) * std::tanh(gate(2));
    s.h[j] = sigmoid(gate(3)) * std::tanh(s.c[j]);
  }
}

struct RecurrentReference {
  bool lstm = false;
  int64_t hidden = 0, layers = 1, directions = 1;
  std::vector<int64_t> offsets;  // of the sequences

  struct Result {
    Matrix rows;    // [tokens, hidden * directions]
    Matrices h, c;  // per layer and direction: [B, hidden]
  };

  /// start_h and start_c: per layer and direction, or empty.
  Result run(Matrix x, const Weights& w, const Matrices& start_h = {}, const Matrices& start_c = {}) const {
    Result result;
    const auto batch = static_cast<int64_t>(offsets.size()) - 1;
    for (int64_t layer = 0; layer < layers; ++layer) {
      Matrix out(x.rows, hidden * directions);
      for (int64_t d = 0; d < directions; ++d) {
        const std::string name = std::to_string(layer) + (d == 0 ? ".forward." : ".backward.");
        const Matrix in = linear(x, w, name + "input.");
        result.h.emplace_back(batch, hidden);
        result.c.emplace_back(batch, hidden);
        const size_t at = result.h.size() - 1;
        for (int64_t b = 0; b < batch; ++b) {
          CellState s{std::vector<double>(hidden), std::vector<double>(hidden)};
          for (int64_t j = 0; j < hidden; ++j) {
            if (!start_h.empty()) s.h[j] = start_h[at](b, j);
            if (!start_c.empty()) s.c[j] = start_c[at](b, j);
          }
          for (int64_t t = 0; t < offsets[b + 1] - offsets[b]; ++t) {
            const int64_t row = d == 0 ? offsets[b] + t : offsets[b + 1] - 1 - t;
            const Matrix h = make_matrix(1, hidden, [&](int64_t, int64_t j) { return s.h[j]; });
            const Matrix from_state = linear(h, w, name + "state.");
            if (lstm)
              lstm_cell(in, from_state, row, s);
            else
              gru_cell(in, from_state, row, s);
            for (int64_t j = 0; j < hidden; ++j) out(row, d * hidden + j) = s.h[j];
          }
          for (int64_t j = 0; j < hidden; ++j) {
            result.h[at](b, j) = s.h[j];
            result.c[at](b, j) = s.c[j];
          }
        }
      }
      x = out;
    }
    result.rows = x;
    return result;
  }
};

}  // namespace heed::test
