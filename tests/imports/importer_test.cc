// Models of other programs answer here as they do there: every log-probability to 1e-4, and the same greedy outputs.
#include "heed/imports/importer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "heed/checkpoint/save.h"
#include "heed/predict/predictor.h"
#include "tests/imports/golden.h"

namespace heed::imports::test {
namespace {

using file::Json;

constexpr double kNear = 1e-4;

/// The largest difference of a log-probability.
void expect_near(const std::vector<float>& ours, const Json& theirs, const std::string& of) {
  const std::vector<Json>& all = elements(theirs, "log_probs");
  ASSERT_EQ(ours.size(), all.size()) << of;
  for (size_t i = 0; i < all.size(); ++i) EXPECT_NEAR(ours[i], number(all[i]), kNear) << of << ", token " << i;
}

class TextModels : public testing::TestWithParam<const char*> {};

TEST_P(TextModels, TokensProbabilitiesAndOutputsAreTheSame) {
  const Json expected = golden_json(std::string(GetParam()) + "/expected.json");
  const Importer* importer = nullptr;
  Imported imported = read(golden(GetParam()), {}, &importer);
  EXPECT_STREQ(importer->name, std::string_view(GetParam()) == "qwen2" ? "llama" : GetParam());
  const predict::Predictor predictor(std::move(imported.model));
  for (const Json& line : elements(expected, "texts")) {
    const std::string& whole = text(line, "text");
    const auto scores = predictor.score_all(std::vector<task::TextPair>{{.source = "", .target = whole}});
    ASSERT_EQ(scores.front().error, "") << whole;
    expect_near(scores.front().token_log_probabilities, line, whole);
  }
}

TEST_P(TextModels, TextsAreCutIntoTheSameTokens) {
  const Json expected = golden_json(std::string(GetParam()) + "/expected.json");
  const Imported imported = read(golden(GetParam()), {});
  const text::Tokeniser& tokeniser = *imported.model.vocabularies.target;
  // By how they are spelled: the ids here are others. What both orders have in common is found from the first text on.
  std::vector<int32_t> ours(static_cast<size_t>(tokeniser.size()) + 8, -1);
  for (const char* list : {"texts", "with_line_ends"})
    for (const Json& line : elements(expected, list)) {
      const std::vector<int64_t> theirs = integers(line, "ids");
      const std::vector<int32_t> ids = tokeniser.encode(text(line, "text"));
      ASSERT_EQ(ids.size(), theirs.size()) << text(line, "text");
      for (size_t i = 0; i < ids.size(); ++i) {
        int32_t& known = ours[static_cast<size_t>(theirs[i])];
        if (known < 0) {
          EXPECT_EQ(std::count(ours.begin(), ours.end(), ids[i]), 0) << "one token here, two there";
          known = ids[i];
        }
        EXPECT_EQ(ids[i], known) << text(line, "text") << ", token " << i;
      }
    }
}

TEST_P(TextModels, GreedyOutputsAreTheSame) {
  const Json expected = golden_json(std::string(GetParam()) + "/expected.json");
  Imported imported = read(golden(GetParam()), {});
  const std::shared_ptr<const text::Tokeniser> tokeniser = imported.model.vocabularies.target;
  const predict::Predictor predictor(std::move(imported.model));
  const int64_t end = integer(*expected.find("end"));
  std::vector<int32_t> ours(static_cast<size_t>(tokeniser->size()) + 8, -1);
  for (const Json& line : elements(expected, "texts")) {
    const std::vector<int32_t> ids = tokeniser->encode(text(line, "text"));
    const std::vector<int64_t> theirs = integers(line, "ids");
    for (size_t i = 0; i < ids.size(); ++i) ours[static_cast<size_t>(theirs[i])] = ids[i];
  }
  int compared = 0;
  for (const Json& line : elements(expected, "texts")) {
    const std::string& start = text(line, "start");
    // Only beginnings that are cut as they were before they were cut off.
    std::vector<int32_t> cut;
    for (const int64_t id : integers(line, "start_ids")) cut.push_back(ours[static_cast<size_t>(id)]);
    if (start.find("\uFFFD") != std::string::npos || tokeniser->encode(start) != cut) continue;
    std::vector<int64_t> wanted = integers(line, "greedy_ids");
    const auto tokens = static_cast<int64_t>(wanted.size());
    if (!wanted.empty() && wanted.back() == end) wanted.pop_back();
    predict::Options options;
    options.beam = 1;
    options.max_length = tokens;
    const task::Prediction made = predictor.predict(start, options);
    ASSERT_EQ(made.error, "");
    ASSERT_EQ(made.nbest.size(), 1u) << start;
    const std::vector<int32_t>& ids = made.nbest.front().ids;
    ASSERT_EQ(ids.size(), wanted.size()) << start;
    for (size_t i = 0; i < ids.size(); ++i) {
      const int32_t known = ours[static_cast<size_t>(wanted[i])];
      EXPECT_EQ(ids[i], known < 0 ? ids[i] : known) << start << ", token " << i;
    }
    ++compared;
  }
  EXPECT_GE(compared, 5);
}
INSTANTIATE_TEST_SUITE_P(All, TextModels, testing::Values("gpt2", "llama", "qwen2"));

class PairModels : public testing::TestWithParam<const char*> {};

TEST_P(PairModels, ProbabilitiesAndOutputsAreTheSame) {
  const Json expected = golden_json(std::string(GetParam()) + "/expected.json");
  const Importer* importer = nullptr;
  Imported imported = read(golden(GetParam()), {}, &importer);
  EXPECT_STREQ(importer->name, "ctranslate2");
  const predict::Predictor predictor(std::move(imported.model));
  for (const Json& pair : elements(expected, "pairs")) {
    const std::string &source = text(pair, "source"), &target = text(pair, "target");
    const auto scores = predictor.score_all(std::vector<task::TextPair>{{.source = source, .target = target}});
    ASSERT_EQ(scores.front().error, "");
    expect_near(scores.front().token_log_probabilities, pair, source);
    predict::Options options;
    options.beam = 1;
    options.max_length = 20;
    const task::Prediction made = predictor.predict(source, options);
    ASSERT_FALSE(made.nbest.empty()) << source;
    std::string written;
    for (const std::string& token : made.nbest.front().tokens) written += token;
    EXPECT_EQ(written, text(pair, "greedy")) << source;
  }
}
INSTANTIATE_TEST_SUITE_P(All, PairModels,
                         testing::Values("ctranslate2_pre", "ctranslate2_post", "ctranslate2_int8",
                                         "ctranslate2_float16"));

}  // namespace
}  // namespace heed::imports::test
