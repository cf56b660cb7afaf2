// The last layer of a model fused with its loss: the logits and probabilities of all tokens never exist at once.
#pragma once

#include <cstdint>
#include <span>

#include "heed/tensor/tensor.h"

namespace heed {

struct OutputLossOptions {
  float label_smoothing = 0.0f;  // s: the target distribution is 1 - s on the target and s / V on every class
  float scale = 1.0f;            // of the loss, for example 1 / tokens
  std::span<const float> row_weights = {};  // [n] of the rows, in the loss and its gradient only; empty: 1 each
  std::span<const int32_t> never = {};  // classes without a chance: the others share all the probability; needs s = 0
};

struct OutputLoss {
  Tensor loss;                          // [1, 1]: scale * sum over rows of weight * the smoothed cross-entropy
  double negative_log_likelihood = 0;   // sum over rows, without smoothing or scale
  int64_t correct = 0;                  // rows whose best class is the target; of those that the softmax has
  int64_t rows = 0;                     // rows that count
  std::span<const float> row_nll = {};  // [n] for each row, 0 if it does not count; in the tape's memory
};

/// A model that also copies words of its source: what p(target) is beside the softmax (copy_mixture.h). A target of the
/// number of classes or above is a word that can only be copied. Label smoothing is about what the softmax says.
struct CopyPart {
  Tensor gate = {};   // [n, 1]; empty: it does not copy
  Tensor mass = {};   // [H, n]: of each head, its weight on the places of the source that have the target
  int64_t head = -1;  // which of them counts; -1: their mean
};

/// logits = x W^T + b.  x [n, d], weight [V, d], bias [1, V] or empty, targets [n] (-1: the row does not count).
/// It works on one block of rows at a time: product, softmax, and right away the two products of the gradient; the
/// backward only scales the saved result. It does the floating-point work of the plain layer with the memory of one
/// block.
OutputLoss output_loss(Tensor x, Tensor weight, Tensor bias, std::span<const int32_t> targets,
                       const OutputLossOptions& options = {}, const CopyPart& copy = {});

}  // namespace heed
