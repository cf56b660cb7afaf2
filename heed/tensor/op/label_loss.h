// The loss of texts that may have several labels: each label is a question of its own, yes or no.
#pragma once

#include <cstdint>
#include <span>

#include "heed/tensor/op/output_loss.h"
#include "heed/tensor/tensor.h"

namespace heed {

/// The right classes of each row: row r has the classes ids[at[r]] to ids[at[r + 1]] of `count` rows. -1: a class that
/// does not exist; then the row is never correct.
struct LabelSets {
  std::span<const int64_t> at;   // [rows + 1]
  std::span<const int32_t> ids;  // different ones, each from -1 to classes - 1
};

/// logits [n, classes] -> the sum over rows and classes of the cross-entropy of p = sigmoid(logit). With smoothing s
/// the target of a class is 1 - s / 2 or s / 2. A row is correct if exactly its classes have p > 1/2; negative
/// log-likelihood and row_nll are those of the whole set.
OutputLoss label_loss(Tensor logits, const LabelSets& right, const OutputLossOptions& options = {});

/// log p of a class from its logit: log sigmoid(x).
double log_sigmoid(double x);
/// log(1 - p) from log p; finite where p rounds to 1.
double log_of_rest(double log_p);

}  // namespace heed
