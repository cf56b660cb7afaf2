// What a sequence costs if each row of another one may write one of its tokens or nothing.  Graves et al. 2006:
// Connectionist temporal classification
#pragma once

#include <cstdint>
#include <span>

#include "heed/tensor/tensor.h"

namespace heed {

/// Sequences of tokens, packed: sequence b has the tokens ids[at[b]] to ids[at[b + 1]].
struct CtcTargets {
  std::span<const int64_t> at;   // [B + 1]
  std::span<const int32_t> ids;  // classes, none of them the blank
  int32_t blank = 0;             // the class that says nothing
};

struct CtcLoss {
  Tensor loss;  // [1, 1]: scale * the sum over sequences of - log p(target)
  double negative_log_likelihood = 0;
  int64_t impossible = 0;  // sequences with fewer rows than they need: they cost nothing
};

/// logits [rows, classes], packed as `offsets` says. p(target) is the sum over all ways to give each row a class so
/// that the target is what remains when repeats are joined and blanks are taken away. In double and in log space; each
/// sequence alone, in a fixed order.
CtcLoss ctc_loss(Tensor logits, const Offsets& offsets, const CtcTargets& targets, float scale = 1.0f);

}  // namespace heed
