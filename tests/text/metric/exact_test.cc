#include "heed/text/metric/exact.h"

#include <gtest/gtest.h>

#include "tests/base/folder.h"

namespace heed::metric {
namespace {

using References = std::vector<Texts>;

const Texts kSaid = {"a b", "c", "d", "e "};
const References kRight = {{"a b"}, {"x", "c"}, {"D"}, {"e"}};

TEST(Exact, Match) {
  const Accuracy accuracy = exact_match(kSaid, kRight);
  EXPECT_EQ(accuracy.right, 2);
  EXPECT_EQ(accuracy.count, 4);
  EXPECT_DOUBLE_EQ(accuracy.rate(), 0.5);
  EXPECT_EQ(Accuracy{}.rate(), 0.0);
}

TEST(Exact, AsMetric) {
  const Score exact = Exact().score(kSaid, kRight);
  EXPECT_EQ(exact.line(), "exact match = 50.00 (2 of 4 right)");
  EXPECT_TRUE(exact.higher_is_better);
  const Score error = Exact(ExactKind::sequence_error).score(kSaid, kRight);
  EXPECT_EQ(error.line(), "SER = 50.00 (2 of 4 wrong)");
  EXPECT_FALSE(error.higher_is_better);
  EXPECT_EQ(Exact(ExactKind::accuracy).score(kSaid, kRight).line(), "accuracy = 75.00 (3 of 4 right)");
}

TEST(Exact, Blanks) {
  const Exact accuracy(ExactKind::accuracy);
  EXPECT_EQ(accuracy.segment_score("\t yes sir\r", {"no", " yes sir"}).value, 100);
  EXPECT_EQ(accuracy.segment_score("yes  sir", {"yes sir"}).value, 0);
  EXPECT_EQ(accuracy.segment_score("  ", {""}).value, 100);
  EXPECT_EQ(accuracy.segment_score("", {"x"}).value, 0);
}

TEST(Exact, Nothing) {
  EXPECT_EQ(Exact().score(Texts{}, References{}).value, 0);
  EXPECT_EQ(Exact(ExactKind::sequence_error).score(Texts{}, References{}).value, 0);
}

TEST(Exact, Mistakes) {
  expect_part(error_of([] { exact_match(Texts{"a"}, References{}); }), "1 hypotheses, but references for 0");
  expect_part(error_of([] { Exact().score(Texts{"a", "b"}, References{{"a"}, {}}); }), "hypothesis 2 has no reference");
}

}  // namespace
}  // namespace heed::metric
