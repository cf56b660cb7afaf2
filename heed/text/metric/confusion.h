// Which labels are taken for which.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "heed/text/metric/metric.h"

namespace heed::metric {

/// One label for each text.
struct Confusion {
  std::vector<std::string> labels;           // all that were right or given, in order
  std::vector<std::vector<int64_t>> counts;  // [right label][given label]

  int64_t texts(size_t right) const;                                                 // with that right label
  int64_t wrong(size_t right) const { return texts(right) - counts[right][right]; }  // of them
};

/// An empty hypothesis (a text without words) is a label of its own.
Confusion confusion(std::span<const std::string> hypotheses, std::span<const Texts> references);

}  // namespace heed::metric
