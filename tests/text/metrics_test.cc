#include "heed/text/metrics.h"

#include <gtest/gtest.h>

#include "tests/text/folder.h"

namespace heed {
namespace {

using Texts = std::vector<std::string>;
using References = std::vector<std::vector<std::string>>;

TEST(Metrics, ExactMatch) {
  const Texts said = {"a b", "c", "d"};
  const References right = {{"a b"}, {"x", "c"}, {"D"}};
  const Accuracy accuracy = exact_match(said, right);
  EXPECT_EQ(accuracy.right, 2);
  EXPECT_EQ(accuracy.count, 3);
  EXPECT_DOUBLE_EQ(accuracy.rate(), 2.0 / 3.0);
  EXPECT_EQ(Accuracy{}.rate(), 0.0);
}

TEST(Metrics, TheBestReferenceCounts) {
  const Texts said = {"T AH M EY T OW", "K AE T"};
  const References right = {{"T AH M AA T OW Z", "T AH M EY T OW"}, {"K AE T S"}};
  const ErrorRate rate = word_error_rate(said, right);
  EXPECT_EQ(rate.edits, (Edits{0, 0, 1}));
  EXPECT_EQ(rate.tokens, 6 + 4);
  EXPECT_DOUBLE_EQ(rate.rate(), 0.1);
}

TEST(Metrics, OfEqualReferencesTheFirst) {
  const Texts said = {"a"};
  const References right = {{"a b", "b"}};
  EXPECT_EQ(word_error_rate(said, right).tokens, 2);
}

TEST(Metrics, CharactersAreCodePoints) {
  const Texts said = {"caf\u00E9", "\u4E2D"};
  const References right = {{"cafe"}, {"\u4E2D\u6587"}};
  const ErrorRate rate = character_error_rate(said, right);
  EXPECT_EQ(rate.edits, (Edits{1, 0, 1}));
  EXPECT_EQ(rate.tokens, 6);
}

TEST(Metrics, Tokens) {
  const std::vector<Ids> said = {{3, 4, 5}, {}};
  const std::vector<std::vector<Ids>> right = {{{3, 5}, {9}}, {{7}}};
  const ErrorRate rate = token_error_rate(said, right);
  EXPECT_EQ(rate.edits, (Edits{0, 1, 1}));
  EXPECT_EQ(rate.tokens, 3);
}

TEST(Metrics, NothingToSay) {
  EXPECT_EQ(word_error_rate(Texts{""}, References{{""}}).rate(), 0.0);
  EXPECT_EQ(word_error_rate(Texts{"a b"}, References{{""}}).rate(), 1.0);
  EXPECT_EQ(word_error_rate(Texts{}, References{}).rate(), 0.0);
  EXPECT_EQ(word_error_rate(Texts{"a b c"}, References{{"d"}}).rate(), 3.0);
}

TEST(Metrics, Mistakes) {
  expect_part(error_of([] { exact_match(Texts{"a"}, References{}); }), "1 hypotheses, but references for 0");
  expect_part(error_of([] {
                word_error_rate(Texts{"a", "b"}, References{{"a"}, {}});
              }),
              "hypothesis 2 has no reference");
}

}  // namespace
}  // namespace heed
