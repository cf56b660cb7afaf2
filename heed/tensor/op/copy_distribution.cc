#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/tensor/op/copy_distribution.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "heed/kernels/exact_math.h"
#include "heed/kernels/simd/math-inl.h"
#include "heed/tensor/op/check.h"
#include "heed/tensor/op/copy_distribution.h"
#include "heed/tensor/op/copy_mixture.h"
#include "heed/tensor/op/elements-inl.h"
#include "heed/tensor/parallel.h"
#include "heed/tensor/tape.h"

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

double CopyLogSum(const float* x, int64_t count) {
  const float largest = Largest(x, count);
  const V32 shift = hn::Set(F32(), largest);
  const float sum = Sum(count, Of(x), [=](V32 v) HWY_ATTR { return Exp(hn::Sub(v, shift)); });
  return static_cast<double>(largest) + exact::log(static_cast<double>(sum));
}

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed {
namespace {

HWY_EXPORT(CopyLogSum);

constexpr float kNever = -std::numeric_limits<float>::infinity();

struct CopyRow {
  const float* logits;
  int64_t vocabulary;
  double gate;
  CopyWeights copies;
  float* out;
  int64_t columns;
};

/// `mass` [columns]: zeros, before and after.
void write_row(const CopyRow& row, std::vector<double>& mass) {
  const double log_sum = HWY_DYNAMIC_DISPATCH(CopyLogSum)(row.logits, row.vocabulary);
  const double shift = log_sigmoid(row.gate) - log_sum;
  for (int64_t v = 0; v < row.vocabulary; ++v) row.out[v] = static_cast<float>(row.logits[v] + shift);
  std::fill(row.out + row.vocabulary, row.out + row.columns, kNever);
  const auto each = [&](const auto& visit) {
    for (size_t i = 0; i < row.copies.tokens.size(); ++i)
      if (const int32_t token = row.copies.tokens[i]; token >= 0 && token < row.columns)
        visit(static_cast<size_t>(token), row.copies.weights[i]);
  };
  each([&](size_t token, float weight) { mass[token] += weight; });
  each([&](size_t token, float) {
    if (mass[token] <= 0.0) return;  // nothing is copied, or it was written already
    const bool known = static_cast<int64_t>(token) < row.vocabulary;
    const double written = known ? row.logits[token] - log_sum : -std::numeric_limits<double>::infinity();
    row.out[token] = static_cast<float>(mix_copy(row.gate, written, mass[token]).log_p);
    mass[token] = 0.0;
  });
}

}  // namespace

int64_t copy_columns(int64_t vocabulary, int64_t extra) {
  constexpr int64_t kRound = 64;  // four chains of vectors of 16: elements-inl.h
  return (vocabulary + extra + kRound - 1) / kRound * kRound;
}

Tensor copy_distribution(Tensor logits, Tensor gate, int64_t columns,
                         const std::function<CopyWeights(int64_t row)>& of_row) {
  expect_there("copy_distribution", "logits", logits);
  expect_shape("copy_distribution", "gate", gate, logits.rows(), 1);
  expect(columns >= logits.cols(), "copy_distribution: {} columns for {} tokens", columns, logits.cols());
  Tape& tape = logits.tape();
  const Tensor out = tape.make(logits.rows(), columns, false);
  for_pieces(logits.rows(), 8 * columns, [&](int64_t begin, int64_t end) {
    std::vector<double> mass(static_cast<size_t>(columns));
    for (int64_t r = begin; r < end; ++r)
      write_row({logits.row(r), logits.cols(), double{*gate.row(r)}, of_row(r), out.row(r), columns}, mass);
  });
  return out;
}

}  // namespace heed
#endif
