#include "heed/model/length_classifier.h"

#include <algorithm>

#include "heed/kernels/exact_math.h"
#include "heed/tensor/op/arithmetic.h"
#include "heed/tensor/op/arrange.h"
#include "heed/tensor/op/pool.h"

namespace heed::model {

LengthClassifier::LengthClassifier(const Scope& scope, int64_t width, int64_t longest)
    : longest_(longest),
      absolute_(scope / "absolute", width, longest),
      relative_(scope / "relative", width, 2 * longest - 1) {}

Tensor LengthClassifier::logits(const Packed& memory) const {
  const Tensor h = mean_of_sequences(memory);
  const Tensor relative = relative_(h);
  // Column n of row b is column n - m + longest - 1 of its relative ones.
  const int64_t count = memory.offsets.count, columns = relative.cols();
  std::vector<int64_t> from;
  from.reserve(static_cast<size_t>(count * longest_));
  for (int64_t b = 0; b < count; ++b) {
    const int64_t zero = std::max<int64_t>(longest_ - 1 - memory.offsets.length(b), 0);
    for (int64_t n = 0; n < longest_; ++n) from.push_back(b * columns + zero + n);
  }
  const Tensor picked = gather_rows(reshape(relative, count * columns, 1), from);
  return add(absolute_(h), reshape(picked, count, longest_));
}

std::vector<std::vector<double>> LengthClassifier::log_probabilities(Tensor logits) {
  std::vector<std::vector<double>> all;
  for (int64_t b = 0; b < logits.rows(); ++b) {
    const std::span row(logits.row(b), static_cast<size_t>(logits.cols()));
    const double largest = *std::max_element(row.begin(), row.end());
    double sum = 0.0;
    for (const float logit : row) sum += exact::exp(logit - largest);
    const double log_sum = largest + exact::log(sum);
    std::vector<double>& found = all.emplace_back();
    found.reserve(row.size());
    for (const float logit : row) found.push_back(logit - log_sum);
  }
  return all;
}

}  // namespace heed::model
