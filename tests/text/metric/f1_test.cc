#include "heed/text/metric/f1.h"

#include <gtest/gtest.h>

#include "heed/text/metric/all.h"
#include "heed/text/metric/resample.h"
#include "tests/base/folder.h"

namespace heed::metric {
namespace {

using References = std::vector<Texts>;

// sklearn.metrics.f1_score(right, given, average=...): 0.65556 (macro), 0.66667 (micro).
const Texts kGivenLabels = {"a", "b", "a", "b", "c", "c"};
const References kRightLabels = {{"a"}, {"a"}, {"a"}, {"b"}, {"b"}, {"c"}};

Score score_of(const char* name, const Texts& given, const References& right, const std::string& between = "") {
  MetricOptions options;
  options.label_separator = between;
  return make_metric_for(given, right, name, options)->score(given, right);
}

TEST(F1, ByHand) {
  const std::vector<LabelCount> counts = count_labels(kGivenLabels, kRightLabels, "");
  ASSERT_EQ(counts.size(), 3u);
  EXPECT_EQ(counts[0].label, "a");
  EXPECT_DOUBLE_EQ(counts[0].precision(), 1);
  EXPECT_DOUBLE_EQ(counts[0].recall(), 2.0 / 3);
  EXPECT_DOUBLE_EQ(counts[0].f1(), 0.8);
  EXPECT_DOUBLE_EQ(counts[1].f1(), 0.5);
  EXPECT_DOUBLE_EQ(counts[2].f1(), 2.0 / 3);
  EXPECT_NEAR(score_of("macro_f1", kGivenLabels, kRightLabels).value, 100 * (0.8 + 0.5 + 2.0 / 3) / 3, 1e-12);
  EXPECT_NEAR(score_of("micro_f1", kGivenLabels, kRightLabels).value, 100 * 4.0 / 6, 1e-12);
}

TEST(F1, ALabelThatIsNeverRightCounts) {
  // As in scikit-learn: F1 of x is 0, and it is one of the labels of the mean.
  EXPECT_NEAR(score_of("macro_f1", {"a", "x"}, {{"a"}, {"a"}}).value, 100 * (2.0 / 3 + 0) / 2, 1e-12);
  EXPECT_EQ(score_of("macro_f1", {"", ""}, {{"a"}, {"b"}}).value, 0);
}

TEST(F1, OfSeveralReferencesTheRightOneCounts) {
  EXPECT_DOUBLE_EQ(score_of("macro_f1", {"b"}, {{"a", "b"}}).value, 100);
  EXPECT_EQ(right_labels("c", {"a", "b"}, ""), "a");
  EXPECT_EQ(right_labels("b, a", {"a", "a,b"}, ","), "a,b");
}

TEST(F1, SetsOfLabels) {
  // both: x 1, y 1; given: x 1, y 2, z 1; right: x 2, y 1, w 1
  const Texts given = {"x, y", "y", "z,z"};
  const References right = {{"y,x"}, {"x"}, {"w"}};
  EXPECT_NEAR(score_of("micro_f1", given, right, ",").value, 100 * 2.0 * 2 / (4 + 4), 1e-12);
  EXPECT_NEAR(score_of("macro_f1", given, right, ",").value, 100 * (2.0 / 3 + 2.0 / 3 + 0 + 0) / 4, 1e-12);
}

TEST(F1, ResamplesOfTextsWithoutALabel) {
  // A sample without b has no F1 of b, not one of 0.
  const Texts given = {"a", "a", "b"};
  const References right = {{"a"}, {"a"}, {"b"}};
  const auto macro = make_metric_for(given, right, "macro_f1");
  const Interval interval = confidence(*macro, macro->statistics(given, right));
  EXPECT_DOUBLE_EQ(interval.low, 100);
}

TEST(F1, TextsAreNoLabels) {
  Texts many;
  References right;
  for (size_t i = 0; i <= F1::kMostLabels; ++i) {
    many.push_back(std::to_string(i));
    right.push_back({many.back()});
  }
  expect_part(error_of([&] { make_metric_for(many, right, "macro_f1"); }), "Are these outputs texts?");
  EXPECT_EQ(score_of("micro_f1", many, right).value, 100);
  const F1 narrow(F1Kind::macro, Texts{"a"}, "");
  expect_part(error_of([&] { narrow.segment_score("b", {"a"}); }), "'b' is not among the 1 labels");
}

}  // namespace
}  // namespace heed::metric
