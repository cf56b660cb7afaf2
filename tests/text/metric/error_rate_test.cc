#include "heed/text/metric/error_rate.h"

#include <gtest/gtest.h>

#include "heed/text/metric/all.h"
#include "tests/base/folder.h"

namespace heed::metric {
namespace {

using References = std::vector<Texts>;

TEST(ErrorRate, TheBestReferenceCounts) {
  const Texts said = {"T AH M EY T OW", "K AE T"};
  const References right = {{"T AH M AA T OW Z", "T AH M EY T OW"}, {"K AE T S"}};
  const ErrorRate rate = token_error_rate(said, right);
  EXPECT_EQ(rate.edits, (Edits{0, 0, 1}));
  EXPECT_EQ(rate.tokens, 6 + 4);
  EXPECT_DOUBLE_EQ(rate.rate(), 0.1);
}

TEST(ErrorRate, OfEqualReferencesTheFirst) {
  const Texts said = {"a"};
  const References right = {{"a b", "b"}};
  EXPECT_EQ(token_error_rate(said, right).tokens, 2);
}

TEST(ErrorRate, CharactersAreCodePoints) {
  const Texts said = {"caf\u00E9", "\u4E2D"};
  const References right = {{"cafe"}, {"\u4E2D\u6587"}};
  const ErrorRate rate = character_error_rate(said, right);
  EXPECT_EQ(rate.edits, (Edits{1, 0, 1}));
  EXPECT_EQ(rate.tokens, 6);
}

TEST(ErrorRate, Tokens) {
  const std::vector<Ids> said = {{3, 4, 5}, {}};
  const std::vector<std::vector<Ids>> right = {{{3, 5}, {9}}, {{7}}};
  const ErrorRate rate = token_error_rate(said, right);
  EXPECT_EQ(rate.edits, (Edits{0, 1, 1}));
  EXPECT_EQ(rate.tokens, 3);
}

TEST(ErrorRate, NothingToSay) {
  EXPECT_EQ(token_error_rate(Texts{""}, References{{""}}).rate(), 0.0);
  EXPECT_EQ(token_error_rate(Texts{"a b"}, References{{""}}).rate(), 1.0);
  EXPECT_EQ(token_error_rate(Texts{}, References{}).rate(), 0.0);
  EXPECT_EQ(token_error_rate(Texts{"a b c"}, References{{"d"}}).rate(), 3.0);
}

TEST(ErrorRate, Mistakes) {
  expect_part(error_of([] { token_error_rate(Texts{"a"}, References{}); }), "1 hypotheses, but references for 0");
  expect_part(error_of([] {
                character_error_rate(Texts{"a", "b"}, References{{"a"}, {}});
              }),
              "hypothesis 2 has no reference");
}

TEST(ErrorRate, AsMetric) {
  const Texts said = {"T AH M EY T OW", "K AE", "X"};
  const References right = {{"T AH M AA T OW Z", "T AH M EY T OW"}, {"K AE T S"}, {"Y"}};
  const ErrorRateMetric wer(ErrorUnit::word), per(ErrorUnit::phone), cer(ErrorUnit::character);
  const Statistics statistics = per.statistics(said, right);
  ASSERT_EQ(statistics.segments(), 3u);
  const std::vector<double> second(statistics[1].begin(), statistics[1].end());
  EXPECT_EQ(second, (std::vector<double>{0, 0, 2, 4}));
  const Score score = per.score(statistics);
  EXPECT_DOUBLE_EQ(score.value, 100 * token_error_rate(said, right).rate());
  EXPECT_EQ(score.line(), "PER = 27.27 (1 substitutions, 0 insertions, 2 deletions in 11 phones)");
  EXPECT_EQ(wer.score(said, right).line(), "WER = 27.27 (1 substitutions, 0 insertions, 2 deletions in 11 words)");
  EXPECT_FALSE(score.higher_is_better);
  EXPECT_DOUBLE_EQ(cer.score(said, right).value, 100 * character_error_rate(said, right).rate());
  EXPECT_DOUBLE_EQ(per.segment_score(said[1], right[1]).value, 50);
}

TEST(ErrorRate, AsMetricOfNothing) {
  const ErrorRateMetric cer(ErrorUnit::character);
  EXPECT_EQ(cer.segment_score("", {""}).value, 0);
  EXPECT_EQ(cer.segment_score("a", {""}).value, 100);
  EXPECT_EQ(cer.score(Texts{}, References{}).value, 0);
}

/// A no-break space, an ideographic one and a line separator are blanks: the tokens around them are several.
TEST(TokenErrorRate, TheBlanksOfUnicodeSeparateTokens) {
  const Texts said = {"a\u00A0b\u3000c\u2028d", "\u2003e "};
  const std::vector<Texts> right = {{"a b c x"}, {"e"}};
  const ErrorRate found = token_error_rate(said, right);
  EXPECT_EQ(found.edits, (Edits{.substitutions = 1}));
  EXPECT_EQ(found.tokens, 5);
  EXPECT_DOUBLE_EQ(ErrorRateMetric(ErrorUnit::word).score(said, right).value, 20);
  // As for the other metrics; what is no blank of Unicode stays inside: a zero-width space.
  EXPECT_EQ(token_error_rate(Texts{"a\u200Bb"}, std::vector<Texts>{{"a b"}}).edits.total(), 2);
}

TEST(Distinct, CountsOverAllOutputs) {
  const Texts said = {"a b a b", "a c", "", "a c"};
  const std::vector<Texts> right(4, Texts{"x"});
  const auto one = make_metric_for(said, right, "distinct-1"), two = make_metric_for(said, right, "distinct-2");
  EXPECT_NEAR(one->score(said, right).value, 100.0 * 3 / 8, 1e-9);
  EXPECT_NEAR(two->score(said, right).value, 100.0 * 3 / 5, 1e-9);                           // ab, ba, ac
  EXPECT_NEAR(make_metric("distinct-1")->segment_score(said[0], right[0]).value, 50, 1e-9);  // by itself
  EXPECT_EQ(two->segment_score("a", {"x"}).value, 0);
}

}  // namespace
}  // namespace heed::metric
