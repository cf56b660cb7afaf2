// Independent hypotheses: each continues token by token until END.
#pragma once

#include <functional>

#include "heed/model/search/best_tokens.h"
#include "heed/model/search/stepper.h"

namespace heed::search {

/// The next token of path number `path`, from its row of the logits.
struct PathStep {
  int64_t path;  // sentence * paths of a sentence + number among them
  int64_t row;
  Tensor logits;
  const BestTokens& best;
};
using Choose = std::function<int32_t(const PathStep&)>;

/// `paths` hypotheses of each sentence. `k`: number of best tokens that `choose` needs.
std::vector<Result> follow_paths(Stepper& stepper, int64_t paths, int64_t k, const Choose& choose);

}  // namespace heed::search
