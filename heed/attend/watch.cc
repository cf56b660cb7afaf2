#include "heed/attend/watch.h"

#include <algorithm>

namespace heed::attend {

void Watch::add(const std::string& name, const AttendArguments& asked, const Weights& weights) {
  if (!weights.data) return;
  WatchedCall call{.name = name, .first_step = asked.state.step(), .heads = weights.heads};
  const Offsets &queries = asked.queries.rows.offsets, &keys = asked.prepared.offsets;
  for (int64_t b = 0; b < weights.batch; ++b) {
    // Learned queries have no rows, and static attention answers all of them with one.
    const int64_t rows = queries ? std::min(queries.length(b), weights.queries) : weights.queries;
    const int64_t columns = keys ? keys.length(b) : asked.prepared.filled;
    std::vector<float> all;
    all.reserve(static_cast<size_t>(weights.heads * rows * columns));
    for (int64_t h = 0; h < weights.heads; ++h)
      for (int64_t i = 0; i < rows; ++i) all.insert(all.end(), weights.at(b, h, i), weights.at(b, h, i) + columns);
    call.queries.push_back(rows);
    call.keys.push_back(columns);
    call.weights.push_back(std::move(all));
  }
  calls_.push_back(std::move(call));
}

}  // namespace heed::attend
