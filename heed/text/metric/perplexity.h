// How surprised a model is by the right texts: e to the mean of -log p of a token. It is a metric of the model, not of
// what it says: the statistics come from its loss, {sum of -log p, tokens} for each segment.
#pragma once

#include "heed/text/metric/metric.h"

namespace heed::metric {

class Perplexity : public Metric {
 public:
  using Metric::score;

  /// The sum of -log p (natural), tokens.
  size_t width() const override { return 2; }
  Score score(std::span<const double> total) const override;  // of no token: 1
};

}  // namespace heed::metric
