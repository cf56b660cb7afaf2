#include "heed/text/metric/all.h"

#include <set>

#include <gtest/gtest.h>

#include "heed/text/metric/perplexity.h"
#include "tests/base/folder.h"

namespace heed::metric {
namespace {

using References = std::vector<Texts>;

TEST(AllMetrics, EveryNameMakesOne) {
  const Texts said = {"the cat sat on a mat", "yes it is"};
  const References right = {{"the cat sat on the mat", "a cat sat"}, {"yes it is"}};
  std::set<std::string> names;
  for (const MetricEntry& entry : all_metrics()) {
    SCOPED_TRACE(entry.name);
    EXPECT_TRUE(names.insert(entry.name).second);
    EXPECT_FALSE(entry.meaning.empty());
    EXPECT_FALSE(entry.formula.empty());
    const auto metric = make_metric_for(said, right, entry.name);
    EXPECT_EQ(metric->score(said, right).higher_is_better, entry.higher_is_better);
    EXPECT_EQ(metric->statistics(said, right).width(), metric->width());
    if (entry.needs_outputs) continue;  // references say nothing
    // Right answers are the best there is, wrong ones are worse.
    const Texts best = {"the cat sat on the mat", "yes it is"};
    const Score score = metric->score(said, right), ideal = metric->score(best, right);
    EXPECT_EQ(score.value < ideal.value, entry.higher_is_better);
    EXPECT_DOUBLE_EQ(ideal.value, entry.higher_is_better ? 100 : 0);
    EXPECT_EQ(score.line().rfind(score.name + " = ", 0), 0u);
    EXPECT_FALSE(score.parts.empty());
  }
  for (const char* name : {"bleu", "chrf", "chrf++", "ter", "exact", "accuracy", "macro_f1", "micro_f1", "ser", "wer",
                           "per", "cer", "rouge-1", "rouge-2", "rouge-l", "distinct-1", "distinct-2"})
    EXPECT_TRUE(names.contains(name)) << name;
}

TEST(AllMetrics, OptionsArrive) {
  MetricOptions options;
  options.bleu.lowercase = true;
  options.bleu.tokenise = Tokenisation::international;
  options.chrf.lowercase = true;
  options.ter.case_sensitive = true;
  EXPECT_EQ(make_metric("bleu", options)->settings(), "case:lc|eff:no|tok:intl|smooth:exp");
  EXPECT_EQ(make_metric("chrf", options)->settings(), "case:lc|eff:yes|nc:6|nw:0|space:no");
  EXPECT_EQ(make_metric("chrf++", options)->settings(), "case:lc|eff:yes|nc:6|nw:2|space:no");
  EXPECT_EQ(make_metric("ter", options)->settings(), "case:mixed|tok:tercom|norm:no|punct:yes|asian:no");
}

TEST(AllMetrics, UnknownNames) {
  expect_part(error_of([] { make_metric("blue"); }), "there is no metric 'blue'; did you mean 'bleu'?");
  expect_part(error_of([] { make_metric("chrf+"); }), "There are: bleu, chrf, chrf++, ter");
  expect_part(error_of([] { tokenisation_of("13b"); }), "there is no tokenisation '13b'; did you mean '13a'?");
  for (const char* name : {"13a", "none", "char", "intl"}) EXPECT_EQ(name_of(tokenisation_of(name)), name);
}

TEST(AllMetrics, Mistakes) {
  const auto bleu = make_metric("bleu");
  expect_part(error_of([&] { bleu->score(Texts{"a"}, References{}); }), "1 hypotheses, but references for 0");
  expect_part(error_of([&] { bleu->score(Texts{"a"}, References{{}}); }), "hypothesis 1 has no reference");
  expect_part(error_of([&] {
                bleu->score(Texts{"a", "b\xFF"}, References{{"a"}, {"b"}});
              }),
              "hypothesis 2: byte 2 is not valid UTF-8");
  expect_part(error_of([&] {
                bleu->score(Texts{"a"}, References{{"a", "\xC3"}});
              }),
              "a reference of hypothesis 1: byte 1 is not valid UTF-8");
  expect_part(error_of([&] { bleu->score(Statistics(3)); }), "3 numbers per segment, expected 10");
  expect_part(error_of([] { Bleu({.order = 0}); }), "order must be at least 1");
  expect_part(error_of([] { Chrf({.characters = 0}); }), "n-grams of characters or words");
  Statistics statistics(2);
  expect_part(error_of([&] { statistics.add(std::vector<double>{1}); }), "1 numbers, expected 2");
}

TEST(Bleu, Parts) {
  const Score score = Bleu().segment_score("a b c d e", {"a b c d e f g h i j"});
  const std::vector<std::string> names = {"precision_1",     "precision_2",  "precision_3",       "precision_4",
                                          "brevity_penalty", "length_ratio", "hypothesis_length", "reference_length"};
  ASSERT_EQ(score.parts.size(), names.size());
  for (size_t i = 0; i < names.size(); ++i) EXPECT_EQ(score.parts[i].first, names[i]);
  EXPECT_DOUBLE_EQ(score.parts[4].second, std::exp(-1.0));
  EXPECT_DOUBLE_EQ(score.value, 100 * std::exp(-1.0));
}

TEST(Perplexity, OfSegments) {
  Statistics statistics(2);
  statistics.add(std::vector<double>{2 * std::log(4.0), 2});
  statistics.add(std::vector<double>{std::log(2.0), 2});
  const Score score = Perplexity().score(statistics);
  EXPECT_DOUBLE_EQ(score.value, std::exp((2 * std::log(4.0) + std::log(2.0)) / 4));
  EXPECT_EQ(score.line(), "perplexity = 2.38 (0.8664 nats a token, 4 tokens)");
  EXPECT_FALSE(score.higher_is_better);
  EXPECT_EQ(Perplexity().score(Statistics(2)).value, 1);
}

}  // namespace
}  // namespace heed::metric
