// The plain reference of everything in problem.h: written from the formulas, with every matrix materialised, one (b, h)
// at a time, in double, which says what is right, or with numbers that carry a bound on their error (bounded.h), or in
// float. Compiled once, in reference.cc.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "tests/kernels/bounded.h"
#include "tests/kernels/case.h"
#include "tests/kernels/matrix.h"
#include "tests/kernels/values.h"

namespace heed::kernels::test {

template <class T>
struct Head {
  int64_t b = 0, h = 0, g = 0;  // batch, head, key/value head
  int64_t tq = 0, tk = 0;
  Matrix<T> raw;      // score(q', k')
  Matrix<T> biased;   // softcapped, biases added, hidden pairs -inf
  Matrix<T> column;   // forced-forward: log sum over the rows above of exp(biased); -inf: nothing
  Matrix<T> shifted;  // biased - column
  Matrix<T> softmax;  // of `shifted`, where the kind has one behind it
  Matrix<T> log_softmax;
  Matrix<T> weight;  // normalised
  Matrix<T> gaussian;
  Matrix<T> guide;  // G
  Matrix<T> keep;   // dropout: 0 or 1 / (1 - p)
  std::vector<T> lse, entropy, log_prob, guide_cost, sink, visible;
  std::vector<int32_t> choice;
  std::vector<T> first_column, last_column;  // forced-forward: the state before the first row, after the last one

  /// A hidden pair does not exist: what stands at its key, even NaN, is never looked at.
  bool hidden(int64_t i, int64_t j) const { return biased(i, j) == -std::numeric_limits<T>::infinity(); }
  /// The weights that the values are multiplied by, without dropout.
  T attention(int64_t i, int64_t j) const { return weight(i, j) * gaussian(i, j); }
  std::vector<T> row(const Matrix<T>& m, int64_t i) const {
    return std::vector<T>(m.data.begin() + i * tk, m.data.begin() + (i + 1) * tk);
  }
};

// T: float, double or Bounded.

template <class T>
Head<T> head_forward(const Case& c, const Values<T>& x, int64_t b, int64_t h);

template <class T>
Results<T> reference_forward(const Case& c, const Values<T>& x);

template <class T>
Values<T> reference_backward(const Case& c, const Values<T>& x, const Upstream<T>& up);

template <class T>
struct Reference {
  Results<T> results;
  Values<T> grad;
};
/// Both, for the price of the second.
template <class T>
Reference<T> reference(const Case& c, const Values<T>& x, const Upstream<T>& up);

/// Whether a pair exists at all.
bool visible(const Case& c, int64_t b, int64_t h, int64_t i, int64_t j);

/// How near a case comes to a point where a derivative jumps: a relu at 0, a sparse weight that just appears, two keys
/// that tie for the best. Measured in units of the largest score, or 1. Tests choose another seed where it is too near
/// (fill_smooth(), below).
double nearest_kink(const Case& c);

/// Fills the case from the first seed, counting up from `seed`, that keeps every kink at least `margin` away. False
/// where no seed does.
bool fill_smooth(Case& c, uint64_t seed, double margin, double scale = 1.0);

}  // namespace heed::kernels::test
