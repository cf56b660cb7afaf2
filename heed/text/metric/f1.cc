#include "heed/text/metric/f1.h"

#include <algorithm>
#include <set>
#include <utility>

#include "heed/base/error.h"
#include "heed/text/label_set.h"
#include "heed/text/metric/check.h"

namespace heed::metric {

namespace {

/// visit(label, was it given, was it right) for each label of a text.
template <class Visit>
void for_each_label(const std::string& hypothesis, const Texts& references, std::string_view between, Visit visit) {
  const std::string& right_text = right_labels(hypothesis, references, between);
  const std::vector<std::string_view> given = text::labels_of(hypothesis, between);
  const std::vector<std::string_view> right = text::labels_of(right_text, between);
  for (const std::string_view label : given) visit(label, true, std::binary_search(right.begin(), right.end(), label));
  for (const std::string_view label : right)
    if (!std::binary_search(given.begin(), given.end(), label)) visit(label, false, true);
}

double f1_of(std::span<const double> counts) { return LabelCount{"", counts[0], counts[1], counts[2]}.f1(); }

}  // namespace

const std::string& right_labels(const std::string& hypothesis, const Texts& references, std::string_view between) {
  const std::vector<std::string_view> given = text::labels_of(hypothesis, between);
  const auto same = std::find_if(references.begin(), references.end(), [&](const std::string& reference) {
    return text::labels_of(reference, between) == given;
  });
  return same == references.end() ? references.front() : *same;
}

std::vector<std::string> all_labels(std::span<const std::string> hypotheses, std::span<const Texts> references,
                                    std::string_view between) {
  std::set<std::string, std::less<>> all;
  const auto add = [&](const std::string& text) {
    for (const std::string_view label : text::labels_of(text, between)) all.emplace(label);
  };
  for (const std::string& text : hypotheses) add(text);
  for (const Texts& texts : references)
    for (const std::string& text : texts) add(text);
  return {all.begin(), all.end()};
}

std::vector<LabelCount> count_labels(std::span<const std::string> hypotheses, std::span<const Texts> references,
                                     std::string_view between) {
  expect_references(hypotheses, references);
  std::map<std::string, LabelCount, std::less<>> counts;
  for (size_t i = 0; i < hypotheses.size(); ++i)
    for_each_label(hypotheses[i], references[i], between, [&](std::string_view label, bool given, bool right) {
      LabelCount& count = counts.emplace(label, LabelCount{std::string(label)}).first->second;
      count.both += given && right ? 1 : 0;
      count.given += given ? 1 : 0;
      count.right += right ? 1 : 0;
    });
  std::vector<LabelCount> all;
  all.reserve(counts.size());
  for (auto& [label, count] : counts) all.push_back(std::move(count));
  return all;
}

F1::F1(F1Kind kind, std::span<const std::string> labels, std::string between)
    : kind_(kind), between_(std::move(between)) {
  if (kind_ != F1Kind::macro) return;
  for (const std::string& label : labels) place_.emplace(label, place_.size());
  expect(place_.size() <= kMostLabels, ErrorKind::data,
         "macro F1 is for labels: there are {} different ones, and at most {} are possible. Are these outputs texts?",
         place_.size(), kMostLabels);
}

std::vector<double> F1::of_segment(const std::string& hypothesis, const Texts& references) const {
  std::vector<double> counts(width());
  for_each_label(hypothesis, references, between_, [&](std::string_view label, bool given, bool right) {
    size_t at = 0;
    if (kind_ == F1Kind::macro) {
      const auto found = place_.find(label);
      expect(found != place_.end(), "macro F1: '{}' is not among the {} labels that it counts", label, place_.size());
      at = 3 * found->second;
    }
    counts[at] += given && right ? 1 : 0;
    counts[at + 1] += given ? 1 : 0;
    counts[at + 2] += right ? 1 : 0;
  });
  return counts;
}

Score F1::score(std::span<const double> total) const {
  if (kind_ == F1Kind::micro)
    return {.name = "micro F1",
            .value = 100 * f1_of(total),
            .details = fmt::format("({:.0f} of {:.0f} labels found, {:.0f} given)", total[0], total[2], total[1]),
            .parts = {{"both", total[0]}, {"given", total[1]}, {"right", total[2]}}};
  double sum = 0, labels = 0;
  for (size_t i = 0; i < total.size(); i += 3) {
    const std::span<const double> counts = total.subspan(i, 3);
    if (counts[1] + counts[2] == 0) continue;  // does not occur in this selection of texts
    sum += f1_of(counts);
    ++labels;
  }
  return {.name = "macro F1",
          .value = labels > 0 ? 100 * sum / labels : 0,
          .details = fmt::format("({:.0f} labels)", labels),
          .parts = {{"labels", labels}}};
}

}  // namespace heed::metric
