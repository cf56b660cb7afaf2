#include "heed/text/metric/calibration.h"

#include <algorithm>
#include <cmath>

#include "heed/base/error.h"

namespace heed::metric {

Calibration calibration(std::span<const double> probabilities, const std::vector<bool>& right, int64_t bins) {
  expect(bins > 0, "calibration: at least one range is needed, not {}", bins);
  expect(probabilities.size() == right.size(), "calibration: {} probabilities, but {} answers", probabilities.size(),
         right.size());
  Calibration c;
  c.bins.resize(static_cast<size_t>(bins));
  for (size_t i = 0; i < probabilities.size(); ++i) {
    const double p = probabilities[i];
    expect(p >= 0 && p <= 1 + 1e-9, "calibration: probability {} is {}, not between 0 and 1", i + 1, p);
    const auto place = static_cast<int64_t>(std::ceil(p * static_cast<double>(bins))) - 1;
    CalibrationBin& bin = c.bins[static_cast<size_t>(std::clamp<int64_t>(place, 0, bins - 1))];
    ++bin.answers;
    bin.probability += p;
    bin.right += right[i] ? 1 : 0;
  }
  for (CalibrationBin& bin : c.bins) {
    if (bin.answers == 0) continue;
    const auto answers = static_cast<double>(bin.answers);
    bin.probability /= answers;
    bin.right /= answers;
    c.error += std::abs(bin.right - bin.probability) * answers / static_cast<double>(probabilities.size());
  }
  return c;
}

}  // namespace heed::metric
