// What alignments look like, in numbers: how widely attention spreads, and whether it moves forward.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "heed/task/prediction.h"

namespace heed::compare {

/// Sums over the alignments of many outputs.
class AlignmentFacts {
 public:
  /// [rows][source tokens]. `in_order`: a row follows the one before it, as the tokens of an output do; the vectors
  /// that a text is pooled into do not.
  void add(const std::vector<std::vector<float>>& alignment, bool in_order = true);

  /// Mean entropy of a row, in bits: 0 if it looks at one token, 1 if at two equally, log2 n if at n. Weights that do
  /// not sum to 1 (sigmoid, relu) are divided by their sum, with negative ones (identity) by their size; rows of
  /// zeros and of values that are not finite do not count. None: no row counts.
  std::optional<double> entropy() const;

  /// Share of the steps from one row to the next that do not go back, from most attended token to most attended token.
  /// None: no output has two rows in order that count.
  std::optional<double> monotonicity() const;

 private:
  double entropy_ = 0;
  int64_t rows_ = 0, steps_ = 0, forward_ = 0;
};

}  // namespace heed::compare
