// Do probabilities mean what they say? Of the answers given with 80 %, about 80 % should be right.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace heed::metric {

/// The answers whose probability is in one range.
struct CalibrationBin {
  int64_t answers = 0;
  double probability = 0;  // their mean
  double right = 0;        // share of them
};

/// Expected calibration error: the mean of |share right - mean probability| over equal ranges of the probability,
/// weighted by the answers in them.  Guo et al. 2017
struct Calibration {
  double error = 0;  // from 0 to 1
  std::vector<CalibrationBin> bins;
};

/// probabilities [n] of the answers given, from 0 to 1; right [n] whether each is. Range i is (i / bins, (i + 1) /
/// bins].
Calibration calibration(std::span<const double> probabilities, const std::vector<bool>& right, int64_t bins = 15);

}  // namespace heed::metric
