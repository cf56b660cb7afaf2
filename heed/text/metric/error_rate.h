// Edits per token: how much of the hypotheses is wrong, if each source has one or several right answers.
//
// hypotheses[i] answers source i, references[i] are its right answers: at least one. The one with the fewest edits
// counts (the first one in a tie).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "heed/text/metric/edit_distance.h"
#include "heed/text/metric/metric.h"

namespace heed::metric {

/// Edits per token of the references that counted.
struct ErrorRate {
  Edits edits;
  int64_t tokens = 0;
  double rate() const;  // may be above 1; if the references have no tokens, 0 without edits and 1 otherwise
};

using Ids = std::vector<int32_t>;

/// Over ids.
ErrorRate token_error_rate(std::span<const Ids> hypotheses, std::span<const std::vector<Ids>> references);

/// Over tokens separated by the blanks of Unicode (is_space() of unicode.h): the word error rate, or for phones the
/// phone error rate.
ErrorRate token_error_rate(std::span<const std::string> hypotheses, std::span<const Texts> references);

/// Over code points.
ErrorRate character_error_rate(std::span<const std::string> hypotheses, std::span<const Texts> references);

/// The same as metrics, in percent. Phones are separated as words are: only the names differ.
enum class ErrorUnit { word, phone, character };

/// Threads: many may use it at once.
class ErrorRateMetric : public TextMetric {
 public:
  explicit ErrorRateMetric(ErrorUnit unit) : unit_(unit) {}

  using TextMetric::score;

  /// Substitutions, insertions, deletions, tokens of the reference that counted.
  size_t width() const override { return 4; }
  Score score(std::span<const double> total) const override;

 protected:
  std::vector<double> of_segment(const std::string& hypothesis, const Texts& references) const override;

 private:
  ErrorUnit unit_;
};

}  // namespace heed::metric
