// Encoders of transformers answer here as they do there: tokens, what is missing, labels, vectors, attention.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "heed/imports/importer.h"
#include "heed/predict/predictor.h"
#include "heed/view/look.h"
#include "tests/imports/golden.h"

namespace heed::imports::test {
namespace {

using file::Json;

constexpr double kNearLog = 1e-4, kNearVector = 1e-5;

class Encoders : public testing::TestWithParam<const char*> {
 protected:
  Encoders() : expected_(golden_json(std::string(GetParam()) + "/expected.json")) {
    const Importer* importer = nullptr;
    Imported imported = read(golden(GetParam()), {}, &importer);
    EXPECT_STREQ(importer->name, "bert");
    predictor_.emplace(std::move(imported.model));
  }
  task::AnswerKind answers() const { return predictor_->model().task().answers(); }
  const std::vector<Json>& texts() const { return elements(expected_, "texts"); }
  std::vector<std::string> tokens(const Json& line) const {
    std::vector<std::string> all;
    for (const Json& token : elements(line, "tokens")) all.push_back(*token.as<std::string>());
    return all;
  }
  /// Those that each model has, by the names that they have here.
  static std::string named(const std::string& theirs) {
    static const std::map<std::string, std::string> kNames = {
        {"[CLS]", "<s>"}, {"[SEP]", "</s>"}, {"[UNK]", "<unk>"}, {"<mask>", "[MASK]"}};
    const auto found = kNames.find(theirs);
    return found == kNames.end() ? theirs : found->second;
  }

  Json expected_;
  std::optional<predict::Predictor> predictor_;
};

TEST_P(Encoders, TextsAreCutIntoTheSameTokens) {
  for (const Json& line : texts()) {
    const std::string& whole = text(line, "text");
    const std::vector<std::string> theirs = tokens(line);
    const task::Prediction found = predictor_->predict(whole, {});
    if (!found.error.empty()) continue;  // too long for the model
    if (theirs.size() > static_cast<size_t>(predictor_->model().model->max_positions())) continue;
    ASSERT_EQ(found.source_tokens.size(), theirs.size()) << whole;
    for (size_t i = 0; i < theirs.size(); ++i)
      EXPECT_EQ(found.source_tokens[i], named(theirs[i])) << whole << ", " << i;
  }
}

TEST_P(Encoders, AnswersAreTheSame) {
  int compared = 0;
  for (const Json& line : texts()) {
    const std::string& whole = text(line, "text");
    const task::Prediction found = predictor_->predict(whole, {.nbest = answers() == task::AnswerKind::vector ? 1 : 6});
    if (const Json* places = line.find("filled"); places && !places->as<Json::Elements>()->empty()) {
      ASSERT_EQ(found.error, "") << whole;
      ASSERT_EQ(found.filled.size(), places->as<Json::Elements>()->size()) << whole;
      for (size_t p = 0; p < found.filled.size(); ++p) {
        const Json& place = (*places->as<Json::Elements>())[p];
        EXPECT_EQ(found.filled[p], integer(*place.find("place"))) << whole;
        const std::vector<Json>& logs = elements(place, "log_probs");
        size_t n = 0;  // </s> is not among theirs
        for (size_t k = 0; k < logs.size(); ++k, ++n) {
          if (found.nbest[n].tokens[p] == "</s>") ++n;
          EXPECT_NEAR(found.nbest[n].token_log_probabilities[p], number(logs[k]), kNearLog) << whole;
          EXPECT_EQ(found.nbest[n].tokens[p], *elements(place, "tokens")[k].as<std::string>()) << whole;
        }
        ++compared;
      }
    }
    if (line.find("log_probs")) {
      ASSERT_EQ(found.error, "") << whole;
      const std::vector<Json>& logs = elements(line, "log_probs");
      const text::Tokeniser& labels = predictor_->target();
      ASSERT_EQ(found.nbest.size(), std::min<size_t>(6, logs.size()));
      for (const task::Output& output : found.nbest)
        EXPECT_NEAR(output.log_probability,
                    number(logs[static_cast<size_t>(labels.encode(output.text).front() - text::kSpecials)]), kNearLog)
            << whole;
      ++compared;
    }
    if (line.find("vector")) {
      ASSERT_EQ(found.error, "") << whole;
      const std::vector<Json>& vector = elements(line, "vector");
      ASSERT_EQ(found.vector.size(), vector.size());
      for (size_t i = 0; i < vector.size(); ++i) EXPECT_NEAR(found.vector[i], number(vector[i]), kNearVector) << whole;
      ++compared;
    }
  }
  EXPECT_GE(compared, 5);
}

TEST_P(Encoders, AttentionOfEveryLayerAndHeadIsTheSame) {
  int compared = 0;
  for (const Json& line : texts()) {
    if (!line.find("attentions")) continue;
    const std::vector<Json>& layers = elements(line, "attentions");
    if (answers() == task::AnswerKind::label) continue;  // seen while a label is scored
    const view::Example seen = view::look(*predictor_, text(line, "text"), {}, {});
    ASSERT_EQ(seen.maps.size(), layers.size());
    for (size_t l = 0; l < layers.size(); ++l) {
      const auto& heads = *layers[l].as<Json::Elements>();
      const view::Map& map = seen.maps[l];
      ASSERT_EQ(map.heads, std::ssize(heads));
      ASSERT_EQ(map.rows, map.columns);
      size_t at = 0;
      for (const Json& head : heads)
        for (const Json& row : *head.as<Json::Elements>())
          for (const Json& weight : *row.as<Json::Elements>()) {
            ASSERT_LT(at, map.weights.size());
            EXPECT_NEAR(map.weights[at++], number(weight), kNearVector) << "layer " << l;
          }
      EXPECT_EQ(at, map.weights.size());
      ++compared;
    }
  }
  if (answers() != task::AnswerKind::label) {
    EXPECT_GE(compared, 2);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Encoders,
                         testing::Values("bert_masked", "bert_vectors", "bert_labels", "distilbert_masked",
                                         "distilbert_labels", "roberta_masked", "roberta_vectors", "roberta_labels",
                                         "albert_masked", "albert_labels", "albert_vectors"));

}  // namespace
}  // namespace heed::imports::test
