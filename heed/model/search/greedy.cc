// The most likely token at every step.
#include "heed/model/search/paths.h"
#include "heed/model/search/strategies.h"

namespace heed::search {

std::vector<Result> greedy(Stepper& stepper) {
  return follow_paths(stepper, 1, 1, [](const PathStep& s) { return s.best.token[static_cast<size_t>(s.row)]; });
}

}  // namespace heed::search
