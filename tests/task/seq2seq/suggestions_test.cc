#include "heed/task/seq2seq/suggestions.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>

#include "heed/base/random.h"
#include "heed/train/recipe/recipe.h"

namespace heed::task::test {
namespace {

data::Pairs pairs_of(int64_t count, const std::function<std::pair<std::string, std::string>(int64_t)>& make) {
  data::Pairs pairs;
  for (int64_t i = 0; i < count; ++i) {
    const auto [source, target] = make(i);
    pairs.add(source, target, i + 1);
  }
  return pairs;
}

/// What is suggested where the recipe says only `settings`.
std::map<std::string, std::string> suggested(const data::Pairs& pairs, std::vector<std::string> settings = {}) {
  settings.push_back("data.tsv=x.tsv");
  const recipe::Recipe r = recipe::parse("", "test", settings);
  std::map<std::string, std::string> all;
  for (const Suggestion& each : suggest(facts_of(pairs), r.open, r.data, r.model)) all[each.key] = each.value;
  return all;
}

data::Pairs numbers(int64_t count) {
  return pairs_of(count, [](int64_t i) {
    return std::pair{fmt::format("({}) {}-{}", 100 + i % 900, i, i * 7), fmt::format("+{}{}{}", i % 900, i, i * 7)};
  });
}

data::Pairs spellings(int64_t count) {
  const std::vector<std::string> phones = {"AH0", "B", "K", "IY1", "T", "S", "L", "N", "D", "EH1"};
  return pairs_of(count, [&](int64_t i) {
    std::string phone;
    for (int64_t n = 0; n < 5; ++n)
      phone += (n ? " " : "") + phones[static_cast<size_t>((i * (n + 3) + n) % std::ssize(phones))];
    return std::pair{fmt::format("w{:x}ord", i), phone};
  });
}

data::Pairs sentences(int64_t count, const char* target_letters = "") {
  text::Random random(1);
  const auto sentence = [&](const char* letters) {
    std::string text;
    for (int n = 0; n < 12; ++n) text += fmt::format("{}w{}ord{}", n ? " " : "", random.below(5000), letters);
    return text;
  };
  return pairs_of(count, [&](int64_t) { return std::pair{sentence(""), sentence(target_letters)}; });
}

TEST(PairSuggestions, ShortLinesAreReadByCharacter) {
  auto s = suggested(numbers(3000));
  EXPECT_EQ(s["data.source_tokens"], "characters");
  EXPECT_EQ(s["data.target_tokens"], "characters");
  EXPECT_EQ(s["model.kind"], "rnn");
  EXPECT_EQ(s["attention.score"], "additive");
  EXPECT_EQ(s["validate.metric"], "exact");
  EXPECT_EQ(s.count("data.source_size"), 0u);
  // An epoch of few pairs has enough updates, too.
  EXPECT_EQ(suggested(numbers(200))["train.batch_tokens"], "256");
  EXPECT_EQ(suggested(numbers(100'000))["train.batch_tokens"], "4096");
  EXPECT_EQ(suggested(numbers(100'000))["model.width"], "256");
}

TEST(PairSuggestions, FewWordsThatAreOftenSeenAreTokens) {
  auto s = suggested(spellings(3000));
  EXPECT_EQ(s["data.source_tokens"], "characters");
  EXPECT_EQ(s["data.target_tokens"], "words");
}

TEST(PairSuggestions, SentencesAreCutIntoPieces) {
  auto s = suggested(sentences(12'000));
  EXPECT_EQ(s["data.source_tokens"], "sentencepiece");
  EXPECT_EQ(s["data.joint"], "true");
  EXPECT_EQ(s["model.tied"], "all");
  EXPECT_EQ(s["data.source_size"], "8000");
  EXPECT_EQ(s["model.kind"], "transformer");
  EXPECT_EQ(s["attention.heads"], "4");
  EXPECT_EQ(s["validate.metric"], "bleu");
  // Few of them: smaller, and recurrent. Another alphabet: a vocabulary of its own.
  auto other = suggested(sentences(1000, "αβγδεζηθικλμνξοπρστυφχψω"));
  EXPECT_EQ(other["model.kind"], "rnn");
  EXPECT_EQ(other["data.joint"], "false");
  EXPECT_EQ(other["data.source_size"], "1000");
  EXPECT_EQ(other.count("model.tied"), 0u);
}

TEST(PairSuggestions, WhatWasSaidStays) {
  auto s = suggested(sentences(12'000), {"data.source_tokens=words", "model.kind=rnn", "attention.score=general",
                                         "train.batch_tokens=99"});
  EXPECT_EQ(s.count("data.source_tokens") + s.count("model.kind") + s.count("train.batch_tokens"), 0u);
  EXPECT_EQ(s.count("attention.score") + s.count("attention.heads"), 0u);
  EXPECT_EQ(s["data.target_tokens"], "sentencepiece");
  EXPECT_EQ(s["train.learning_rate"], "0.003");  // that of an rnn
  // Heads must share the width that was said; a mixture stays one.
  EXPECT_EQ(suggested(numbers(300), {"model.kind=transformer", "model.width=30"})["attention.heads"], "1");
  EXPECT_EQ(suggested(numbers(300), {"model.encoder=transformer", "model.decoder=rnn"}).count("model.kind"), 0u);
}

/// Names that targets take over from their sources.
TEST(PairSuggestions, CopyingWhereRareWordsStandInTheSource) {
  const auto named = [](bool in_source) {
    return pairs_of(2000, [=](int64_t i) {
      const std::string name = fmt::format("gimp{}", i);
      return std::pair{
          fmt::format("the program {} draws the maps that everybody likes to look at", in_source ? name : "x"),
          fmt::format("{} draws the maps that everybody likes to look at, as they say", name)};
    });
  };
  EXPECT_EQ(suggested(named(true))["model.copy"], "true");
  EXPECT_EQ(suggested(named(false)).count("model.copy"), 0u);
  EXPECT_EQ(suggested(named(true), {"model.decoder=parallel"}).count("model.copy"), 0u);
  EXPECT_EQ(suggested(named(true), {"model.copy=false"}).count("model.copy"), 0u);
  EXPECT_EQ(suggested(named(true), {"attention.time=guided"}).count("model.copy"), 0u);
}

}  // namespace
}  // namespace heed::task::test
