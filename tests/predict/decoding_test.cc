// Ways to decode, from text to text: words that must or must not come, prefixes, reranking, ensembles.
#include <cmath>
#include <set>

#include <gtest/gtest.h>

#include "heed/predict/json.h"
#include "heed/predict/predictor.h"
#include "heed/text/metric/all.h"
#include "tests/predict/decided_model.h"

namespace heed::predict {
namespace {

using namespace test;

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(Decoding, OutputsKeepTheRules) {
  for (const bool is_transformer : {false, true}) {
    const Predictor predictor(decided(is_transformer ? train::test::transformer() : std::vector<std::string>{}));
    for (const int64_t beam : {0, 1, 4}) {
      const Options o{.beam = beam, .must = {"zq", "j"}, .must_not = {"e", "ab"}, .prefix = "w"};
      for (const Prediction& p : predictor.predict_all(kLines, o)) {
        if (p.nbest.empty()) continue;  // the empty line
        EXPECT_TRUE(p.nbest[0].missing.empty());
        EXPECT_TRUE(has(p.text(), "zq") && has(p.text(), "j") && p.text().starts_with("w")) << p.text();
        EXPECT_FALSE(has(p.text(), "e") || has(p.text(), "ab")) << p.text();
        double sum = 0;
        for (const float each : p.nbest[0].token_log_probabilities) sum += each;
        EXPECT_NEAR(p.nbest[0].log_probability, sum, 1e-4);  // the prefix and the words count
      }
    }
  }
}

TEST(Decoding, WhatIsMissingIsNamed) {
  const Predictor predictor(decided());
  const Prediction p = predictor.predict("hello", {.max_length = 4, .must = {"zq", "jj", "xx"}});
  ASSERT_FALSE(p.nbest.empty());
  EXPECT_FALSE(p.nbest[0].missing.empty());
  for (const std::string& phrase : p.nbest[0].missing) EXPECT_FALSE(has(p.text(), phrase));
  expect_in("'" + p.nbest[0].missing[0] + "'", missing_text(p.nbest[0]));
  file::Json j = file::Json::object({});
  add_prediction(j, p, {});
  expect_in("\"missing\":[\"" + p.nbest[0].missing[0], j.line());
  expect_in("max_length", j.line());
}

TEST(Decoding, LinesHaveRulesOfTheirOwn) {
  const Predictor predictor(decided());
  std::vector<LineRules> rules(kLines.size());
  rules[0].must = {"zz"};
  rules[1].prefix = "wow";
  rules[2].must = {"é"};  // which the model cannot write
  rules[3].must_not = {"a", "e"};
  rules[5].must = {"qa"};  // which holds an a
  const Options o{.must_not = {"a"}, .line_rules = rules};
  const std::vector<Prediction> all = predictor.predict_all(kLines, o);
  EXPECT_TRUE(has(all[0].text(), "zz"));
  EXPECT_TRUE(all[1].text().starts_with("wow"));
  expect_in("must: the model cannot write 'é'", all[2].error);
  expect_in("must 'qa' contains 'a'", all[5].error);
  for (const Prediction& p : all) EXPECT_FALSE(has(p.text(), "a"));
  for (size_t i = 0; i < kLines.size(); ++i)
    expect_same(all[i], predictor.predict(kLines[i], {.must_not = {"a"}, .line_rules = {rules[i]}}));
}

/// SentencePiece can spell a word in many ways: none of them comes.
TEST(Decoding, WhatMustNotComeIsNotSpeltOtherwise) {
  std::vector<std::string> sentences;
  for (const char* a : {"hot", "hut", "hat", "tot", "tut"})
    for (const char* b : {"at", "to", "ho", "hot", "oh"}) sentences.push_back(std::string(a) + " " + b + " " + a);
  const std::vector<std::string_view> views(sentences.begin(), sentences.end());
  const auto tokens = text::Tokeniser::train(views, {.kind = "sentencepiece", .size = 24});
  const recipe::Recipe recipe = train::test::small_recipe("nowhere");
  size_t forbidden = 0;
  for (const uint64_t seed : {1, 2, 3, 4}) {
    trained::TrainedModel made = trained::make_model(recipe::describe(recipe), {tokens, tokens}, recipe.train.seed);
    make_up_its_mind(made, seed);
    const Predictor predictor(std::move(made));
    for (const std::string& line : {std::string("hot at hot"), std::string("tut oh")}) {
      const std::string said = predictor.predict(line, {.beam = 4}).text();
      for (size_t begin = 0; begin < said.size();) {  // each word that it says
        const size_t end = std::min(said.find(' ', begin), said.size());
        const std::string word = said.substr(begin, end - begin);
        begin = end + 1;
        if (word.empty() || has(word, text::kUnknownShown.data())) continue;
        ++forbidden;
        const Prediction without = predictor.predict(line, {.beam = 4, .must_not = {word}});
        EXPECT_FALSE(has(" " + without.text() + " ", " " + word + " ")) << word << ": " << without.text();
      }
    }
  }
  EXPECT_GT(forbidden, 5u);
}

TEST(Decoding, SamplesCanAllDiffer) {
  const Predictor predictor(decided());
  for (const Prediction& p : predictor.predict_all(kLines, {.nbest = 20, .sample = true, .distinct = true})) {
    std::set<std::vector<std::string>> different;
    for (const Output& output : p.nbest) different.insert(output.tokens);
    EXPECT_EQ(different.size(), p.nbest.size());
    EXPECT_TRUE(p.nbest.empty() || p.nbest.size() == 20);
  }
}

// ---------------------------------------------------------------------------------------------------------- reranking

/// The formula, in double, of outputs that the search gives one by one.
TEST(Decoding, MinimumBayesRiskIsTheMeanOfTheMetric) {
  const Predictor predictor(decided());
  for (const char* name : {"chrf", "bleu", "ter"})
    for (const bool sample : {false, true}) {
      const auto metric = metric::make_metric(name);
      const double sign = std::string(name) == "ter" ? -1.0 : 1.0;
      const Options of_all{.nbest = 12, .sample = sample, .seed = 5};
      Options o = of_all;
      o.nbest = 3;
      o.candidates = 12;
      o.mbr = name;
      const std::vector<Prediction> candidates = predictor.predict_all(kLines, of_all),
                                    found = predictor.predict_all(kLines, o);
      for (size_t i = 0; i < kLines.size(); ++i) {
        std::vector<std::pair<double, std::string>> right;
        double weights = 0;
        for (const Output& y : candidates[i].nbest) weights += sample ? 1.0 : std::exp(y.log_probability);
        std::set<std::string> seen;
        for (const Output& y : candidates[i].nbest) {
          if (!seen.insert(y.text).second) continue;
          double mean = 0;
          for (const Output& other : candidates[i].nbest)
            mean += (sample ? 1.0 : std::exp(other.log_probability)) / weights *
                    metric->segment_score(y.text, {other.text}).value;
          right.push_back({sign * mean, y.text});
        }
        std::stable_sort(right.begin(), right.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
        ASSERT_EQ(found[i].nbest.size(), std::min<size_t>(3, right.size()));
        for (size_t n = 0; n < found[i].nbest.size(); ++n)
          EXPECT_NEAR(found[i].nbest[n].score, right[n].first, 1e-9) << name << " line " << i;
        EXPECT_EQ(found[i].text(), right.empty() ? "" : right[0].second);
      }
    }
}

TEST(Decoding, AReverseModelAddsItsLogProbability) {
  const Predictor predictor(decided()), reverse(decided({}, 2));
  const auto score = [&](std::span<const TextPair> pairs) { return reverse.score_all(pairs); };
  const Options of_all{.beam = 8, .nbest = 8, .length_penalty = 0.6};
  Options o = of_all;
  o.nbest = 2;
  o.rerank_reverse = score;
  o.rerank_weight = 0.7;
  bool changed = false;
  for (const std::string& line : {std::string("hello"), std::string("deed"), std::string("abc")}) {
    const Prediction candidates = predictor.predict(line, of_all), found = predictor.predict(line, o);
    double best = -1e300;
    for (const Output& y : candidates.nbest)
      if (!y.text.empty())
        best =
            std::max(best, y.score + 0.7 * reverse.score_all(std::vector<TextPair>{{y.text, line}})[0].log_probability);
    EXPECT_NEAR(found.nbest[0].score, best, 1e-5);
    EXPECT_EQ(found.nbest.size(), 2u);
    EXPECT_LE(found.nbest[1].score, found.nbest[0].score);
    EXPECT_LT(found.nbest[0].reverse_log_probability, 0.0);
    changed |= found.text() != candidates.text();
  }
  EXPECT_TRUE(changed);
}

// ----------------------------------------------------------------------------------------------------------- ensembles

Predictor together(const std::vector<std::vector<std::string>>& overrides, Mean mean = Mean::log_probabilities) {
  std::vector<trained::TrainedModel> models;
  models.reserve(overrides.size());
  for (const auto& each : overrides) models.push_back(decided(each));
  return Predictor(std::move(models), mean);
}

TEST(Decoding, AnEnsembleOfEqualsIsTheModel) {
  const Predictor alone(decided());
  const std::vector<TextPair> pairs = {{"abc", "cba"}, {"hello", ""}, {"", "x"}, {"deed", "deed"}};
  for (const Mean mean : {Mean::log_probabilities, Mean::probabilities}) {
    const Predictor twice = together({{}, {}}, mean);
    EXPECT_EQ(twice.models(), 2u);
    for (Options o : {Options{}, Options{.beam = 4, .nbest = 3}, Options{.sample = true}}) {
      o.alignments = false;
      const std::vector<Prediction> right = alone.predict_all(kLines, o), found = twice.predict_all(kLines, o);
      for (size_t i = 0; i < kLines.size(); ++i) expect_same(found[i], right[i]);
    }
    const std::vector<PairScore> right = alone.score_all(pairs), found = twice.score_all(pairs);
    for (size_t i = 0; i < pairs.size(); ++i) {
      EXPECT_EQ(found[i].error, right[i].error);
      EXPECT_EQ(found[i].tokens, right[i].tokens);
      EXPECT_NEAR(found[i].log_probability, right[i].log_probability, 1e-4);
    }
  }
}

/// Its score of what it says is the log-probability that it gave it.
TEST(Decoding, AnEnsembleOfDifferentKindsAgreesWithItself) {
  const Predictor both = together({{}, train::test::transformer()});
  const std::vector<Prediction> found = both.predict_all(kLines, {.beam = 4});
  const Predictor rnn(decided());
  bool differs = false;
  for (size_t i = 0; i < kLines.size(); ++i) {
    differs |= found[i].text() != rnn.predict(kLines[i], {.beam = 4}).text();
    if (found[i].nbest.empty() || !found[i].nbest[0].finished) continue;
    const std::vector<TextPair> pair = {{kLines[i], found[i].text()}};
    EXPECT_NEAR(both.score_all(pair)[0].log_probability, found[i].nbest[0].log_probability, 1e-4);
    for (const std::vector<float>& row : found[i].nbest[0].alignment) EXPECT_EQ(row.size(), kLines[i].size());
  }
  EXPECT_TRUE(differs);
}

TEST(Decoding, ModelsThatWriteOtherTokensAreRefused) {
  const std::string_view letters[] = {"abcdefghijklmnopqrstuvwxyz "}, others[] = {"abcdefghijklmnopqrstuvwxy! "};
  const recipe::Recipe recipe = train::test::small_recipe("nowhere");
  const auto made = [&](std::span<const std::string_view> of) {
    const auto tokens = text::Tokeniser::train(of, {});
    return trained::make_model(recipe::describe(recipe), {tokens, tokens}, recipe.train.seed);
  };
  std::vector<trained::TrainedModel> models;
  models.push_back(made(letters));
  models.push_back(made(others));
  const std::string said = error_of([&] { Predictor(std::move(models)); });
  expect_in("token", said);
  expect_in("in model 1 and", said);
}

TEST(Decoding, WrongOptionsAreRefusedByName) {
  const Predictor predictor(decided());
  const auto refused = [&](const Options& o, const std::string& beginning) {
    const std::string said = error_of([&] { predictor.check(o); });
    EXPECT_TRUE(said.starts_with(beginning)) << said;
  };
  refused({.must = {"é"}}, "must: the model cannot write 'é': its vocabulary lacks 'é'");
  refused({.must_not = {"Z"}}, "must_not: the model cannot write 'Z'");
  refused({.must = {""}}, "must: an empty phrase");
  refused({.must = {"\xff"}}, "must: ");
  refused({.prefix = "Ä"}, "prefix: the model cannot write");
  refused({.must = {"abc"}, .must_not = {"b"}}, "must 'abc' contains 'b'");
  refused({.must_not = {"b"}, .prefix = "abc"}, "prefix 'abc' contains 'b'");
  refused({.max_length = 2, .prefix = "abc"}, "prefix 'abc' has 3 tokens");
  refused({.max_length = 2, .must = {"abc"}}, "must: a phrase of 3 tokens");
  refused({.must = {"a"}, .sample = true}, "must cannot be combined with sample");
  refused({.beam = 4, .groups = 2, .must = {"a"}}, "must cannot be combined with groups");
  refused({.beam = 4, .groups = 3}, "groups 3: a beam of 4");
  refused({.diversity = -1.0}, "diversity: ");
  refused({.distinct = true}, "distinct is only for sampling");
  refused({.no_repeat_ngram = -1}, "no_repeat_ngram: ");
  refused({.mbr = "chrff"}, "mbr: ");
  refused({.candidates = 3}, "candidates 3 are only for reranking");
  refused({.beam = 4, .mbr = "chrf", .candidates = 5}, "candidates 5 need a beam");
  refused({.nbest = 4, .mbr = "chrf", .candidates = 3}, "nbest 4 needs at least as many");
  refused({.rerank_weight = 2.0}, "rerank_weight 2 needs rerank_reverse");
  EXPECT_THROW(predictor.predict("a", {.line_rules = std::vector<LineRules>(2)}), Error);
}

}  // namespace
}  // namespace heed::predict
