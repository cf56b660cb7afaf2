// How many tokens an output has, from its source.
//
//   p(n | source) = softmax_n( a_n h + r_{n-m} h )        n = 0 .. longest - 1
//
// h is the mean of the memory, m the number of its rows. Both terms have a bias. The first one knows outputs of a fixed
// length; the second one outputs that are about as long as their source, whatever its length.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heed/layer/linear.h"
#include "heed/tensor/tensor.h"

namespace heed::model {

/// Parameters: "absolute" [longest, width], "relative" [2 longest - 1, width], each with a bias.
class LengthClassifier {
 public:
  LengthClassifier() = default;
  /// `width`: of the memory.
  LengthClassifier(const Scope& scope, int64_t width, int64_t longest);

  /// -> [B, longest]
  Tensor logits(const Packed& memory) const;

  /// logits [B, longest] -> [B][longest]: log p(n).
  static std::vector<std::vector<double>> log_probabilities(Tensor logits);

 private:
  int64_t longest_ = 0;
  Linear absolute_, relative_;
};

}  // namespace heed::model
