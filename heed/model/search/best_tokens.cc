#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/model/search/best_tokens.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "heed/base/error.h"
#include "heed/kernels/exact_math.h"
#include "heed/kernels/simd/math-inl.h"
#include "heed/model/search/best_tokens.h"
#include "heed/tensor/op/elements-inl.h"
#include "heed/tensor/parallel.h"
#include "heed/tensor/tape.h"

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

double LogSumOfRow(const float* x, int64_t count) {
  const float largest = Largest(x, count);
  const V32 shift = hn::Set(F32(), largest);
  const float sum = Sum(count, Of(x), [=](V32 v) HWY_ATTR { return Exp(hn::Sub(v, shift)); });
  return static_cast<double>(largest) + exact::log(static_cast<double>(sum));
}

/// One pass: what is larger than the worst of the k so far takes its place, which soon happens rarely. Ids come in
/// rising order, so of equals the smaller one is there first and stays.
void BestOfRow(const float* x, int64_t count, int64_t k, int32_t* tokens) {
  const auto better = [x](int32_t a, int32_t b) { return x[a] != x[b] ? x[a] > x[b] : a < b; };
  std::iota(tokens, tokens + k, 0);
  std::make_heap(tokens, tokens + k, better);  // the worst in front
  const auto offer = [&](int64_t v) {
    if (!(x[v] > x[tokens[0]])) return;
    std::pop_heap(tokens, tokens + k, better);
    tokens[k - 1] = static_cast<int32_t>(v);
    std::push_heap(tokens, tokens + k, better);
  };
  const F32 d;
  constexpr auto kStep = static_cast<int64_t>(kLanes);
  int64_t v = k;
  for (; k > 0 && v + kStep <= count; v += kStep) {
    const auto larger = hn::Gt(hn::LoadU(d, x + v), hn::Set(d, x[tokens[0]]));
    if (hn::AllFalse(d, larger)) continue;
    for (int64_t i = v; i < v + kStep; ++i) offer(i);
  }
  for (; k > 0 && v < count; ++v) offer(v);
  std::sort_heap(tokens, tokens + k, better);
}

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::search {
namespace {
HWY_EXPORT(LogSumOfRow);
HWY_EXPORT(BestOfRow);
}  // namespace

void best_of_row(const float* logits, int64_t count, int64_t k, int32_t* tokens) {
  HWY_DYNAMIC_DISPATCH(BestOfRow)(logits, count, k, tokens);
}

void best_tokens(Tensor logits, int64_t k, BestTokens& best, std::span<const int32_t> never) {
  const int64_t rows = logits.rows(), count = logits.cols();
  best.k = std::min(k, count);
  best.token.resize(static_cast<size_t>(rows * best.k));
  best.log_sum.resize(static_cast<size_t>(rows));
  for_pieces(rows, 4 * count, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      best.log_sum[static_cast<size_t>(r)] = HWY_DYNAMIC_DISPATCH(LogSumOfRow)(logits.row(r), count);
      for (const int32_t token : never)
        if (token < count) logits.row(r)[token] = -std::numeric_limits<float>::infinity();
      if (best.k > 0) best_of_row(logits.row(r), count, best.k, best.token.data() + r * best.k);
    }
  });
  for (int64_t r = 0; r < rows; ++r)
    expect(std::isfinite(best.log_sum[static_cast<size_t>(r)]), ErrorKind::data,
           "search: the model's logits in row {} are not finite: their log-sum-exp is {}", r,
           best.log_sum[static_cast<size_t>(r)]);
}

void best_allowed_tokens(Tensor logits, int64_t k, BestTokens& best) {
  const int64_t rows = logits.rows(), count = logits.cols();
  best.k = std::min(k, count);
  best.token.resize(static_cast<size_t>(rows * best.k));
  for (int64_t r = 0; r < rows; ++r) best_of_row(logits.row(r), count, best.k, best.token.data() + r * best.k);
}

}  // namespace heed::search
#endif
