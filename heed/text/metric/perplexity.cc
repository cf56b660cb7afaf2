#include "heed/text/metric/perplexity.h"

#include <cmath>

#include "heed/base/error.h"

namespace heed::metric {

Score Perplexity::score(std::span<const double> total) const {
  const double tokens = total[1], mean = tokens > 0 ? total[0] / tokens : 0;
  return {.name = "perplexity",
          .value = std::exp(mean),
          .higher_is_better = false,
          .details = fmt::format("({:.4f} nats a token, {:.0f} tokens)", mean, tokens),
          .parts = {{"nll", mean}, {"tokens", tokens}}};
}

}  // namespace heed::metric
