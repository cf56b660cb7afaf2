// How well labels are found: precision, recall and their harmonic mean F1, for each label, and over all of them.
//
//   precision = both / given     recall = both / right     F1 = 2 both / (given + right)
//
// micro F1 sums the counts of all labels first, so a frequent label counts more (with one label for each text it is the
// accuracy); macro F1 is the mean of the labels' F1, so all labels count the same. As in scikit-learn, the mean is over
// the labels that were given or right at least once.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/text/metric/metric.h"

namespace heed::metric {

/// Of one label. Nothing divided by nothing is 0.
struct LabelCount {
  std::string label;
  double both = 0, given = 0, right = 0;  // texts for which it was given and right, given, right

  double precision() const { return given > 0 ? both / given : 0; }
  double recall() const { return right > 0 ? both / right : 0; }
  double f1() const { return given + right > 0 ? 2 * both / (given + right) : 0; }
};

/// All labels in the texts, each once and in order. `between`: see text::labels_of().
std::vector<std::string> all_labels(std::span<const std::string> hypotheses, std::span<const Texts> references,
                                    std::string_view between);

/// The reference that is compared with: the one with the same labels, or else the first.
const std::string& right_labels(const std::string& hypothesis, const Texts& references, std::string_view between);

/// [labels] In order.
std::vector<LabelCount> count_labels(std::span<const std::string> hypotheses, std::span<const Texts> references,
                                     std::string_view between);

enum class F1Kind { macro, micro };

/// Threads: many may use it at once.
class F1 : public TextMetric {
 public:
  static constexpr size_t kMostLabels = 1000;  // of macro F1, which keeps counts of each for every text

  /// `labels`: all that occur; only macro F1 needs them.
  F1(F1Kind kind, std::span<const std::string> labels, std::string between);

  using TextMetric::score;

  /// Macro: both, given, right of each label. Micro: their sums.
  size_t width() const override { return kind_ == F1Kind::macro ? 3 * place_.size() : 3; }
  Score score(std::span<const double> total) const override;

 protected:
  std::vector<double> of_segment(const std::string& hypothesis, const Texts& references) const override;

 private:
  F1Kind kind_;
  std::string between_;
  std::map<std::string, size_t, std::less<>> place_;  // of a label, among them
};

}  // namespace heed::metric
