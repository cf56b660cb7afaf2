// What the entries say of themselves, and what follows for whole options.
#include <gtest/gtest.h>

#include <limits>
#include <set>

#include "heed/attend/all.h"
#include "heed/base/error.h"
#include "tests/attend/expect.h"

namespace heed::attend::test {
namespace {

std::set<std::string> names_with(bool Entry::*fact) {
  std::set<std::string> names;
  for (const Entry* e : all())
    if (e->*fact) names.insert(e->name);
  return names;
}

TEST(Facts, BelongToTheRightParts) {
  using Names = std::set<std::string>;
  EXPECT_EQ(names_with(&Entry::draws), (Names{"hard_sampled"}));
  EXPECT_EQ(names_with(&Entry::sums_exp), (Names{"softmax"}));
  EXPECT_EQ(names_with(&Entry::guides), (Names{"guided"}));
  EXPECT_EQ(names_with(&Entry::has_heads), (Names{"single", "multi_head"}));
  EXPECT_EQ(names_with(&Entry::own_queries),
            (Names{"static", "learned_query", "structured", "hierarchical", "feed_forward"}));
}

/// What replaces an entry is of the same part, and makes sense in that place itself.
TEST(Facts, ReplacementsStand) {
  for (const Entry* e : all())
    for (const auto place : {&Replacements::in_encoder, &Replacements::in_decoder, &Replacements::to_source}) {
      const Entry* instead = e->instead.*place;
      if (!instead) continue;
      EXPECT_EQ(instead->part, e->part) << e->name;
      EXPECT_EQ(instead->instead.*place, nullptr) << e->name;
      EXPECT_EQ(instead->not_to_source, nullptr) << e->name;
    }
}

TEST(Resolve, GivesTheEntries) {
  Options o;
  o.score = "concat";
  o.region = "causal + sinks";
  const Parts parts = resolve(o);
  EXPECT_EQ(parts.score, &additive_entry);
  EXPECT_EQ(parts.input, &external_entry);
  EXPECT_TRUE(parts.has_region(sinks_entry) && parts.has_region(causal_entry) && !parts.has_region(global_entry));
  EXPECT_TRUE(parts.any(&Entry::order_matters));
  EXPECT_FALSE(resolve({}).any(&Entry::order_matters));
}

TEST(Resolve, NamesEveryUnknownWord) {
  Options o;
  o.score = "cosinus";
  o.input = "plain_mode";  // an entry, but no word of this option
  try {
    resolve(o);
    FAIL() << "was not refused";
  } catch (const Error& error) {
    const std::string what = error.what();
    EXPECT_NE(what.find("there is no score 'cosinus'; did you mean 'cosine'?"), std::string::npos) << what;
    EXPECT_NE(what.find("there is no input 'plain_mode'"), std::string::npos) << what;
    EXPECT_NE(what.find("external, self_attention, cross_attention, learned_query"), std::string::npos) << what;
  }
}

TEST(LongestMemory, IsThatOfTheSynthesizers) {
  Options o;
  o.max_length = 17;
  EXPECT_EQ(longest_memory(o), std::numeric_limits<int64_t>::max());
  for (const char* score : {"synthesizer_dense", "synthesizer_random", "synthesizer_mixture"}) {
    o.score = score;
    EXPECT_EQ(longest_memory(o), 17);
  }
}

TEST(Draws, IsHardSampled) {
  Options o;
  EXPECT_FALSE(draws(o));
  o.normalise = "hard_sampled";
  EXPECT_TRUE(draws(o));
}

}  // namespace
}  // namespace heed::attend::test
