// Logits of a step -> the best tokens and their log-probabilities.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heed/tensor/tensor.h"

namespace heed::search {

/// Of each row of the logits [rows, vocabulary].
struct BestTokens {
  int64_t k = 0;                // tokens of a row: as many as were wanted, or all of a small vocabulary
  std::vector<int32_t> token;   // [rows, k], the best first; in a tie the smaller id
  std::vector<double> log_sum;  // [rows]: log sum_v exp(logit_v)
};

/// `k` may be 0. `never`: the logits of these ids become -infinity, after the sums and before the choice: so nothing
/// chooses them, and the log-probabilities of the others stay those of the model. Throws where a sum is not a number.
void best_tokens(Tensor logits, int64_t k, BestTokens& best, std::span<const int32_t> never = {});

/// Fills in the tokens of `best`, whose sums are those of these logits before some became -infinity.
void best_allowed_tokens(Tensor logits, int64_t k, BestTokens& best);

/// The k best of one row, k <= count.
void best_of_row(const float* logits, int64_t count, int64_t k, int32_t* tokens);

}  // namespace heed::search
