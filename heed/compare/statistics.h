// Means, spreads, and whether a difference may be chance.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace heed::compare {

struct Mean {
  double mean = 0;
  std::optional<double> spread = {};  // standard deviation of the runs (n - 1); none for one run
  int64_t count = 0;
};

/// None: there are no values.
std::optional<Mean> mean_of(std::span<const double> values);

/// Two-sided paired t-test of values that belong together (the same seed): the probability of such differences, or
/// larger ones, if there were none. Differences that are all equal are 1 if they are 0, otherwise 0. None: fewer than
/// two pairs.
std::optional<double> paired_t_test(std::span<const double> a, std::span<const double> b);

/// P(|T| >= t) of Student's distribution, for a whole number of degrees of freedom, within 1e-14.
double student_two_sided(double t, int64_t degrees);

/// Holm's correction (1979) for several tests at once: the smallest p times their number, the next one times one less,
/// and so on; never above 1, and never smaller than one before. With it, the chance that any of the differences that
/// are called significant is none stays below the level that was chosen.
std::vector<double> holm(std::span<const double> p);

}  // namespace heed::compare
