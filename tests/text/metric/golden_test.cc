// BLEU, chrF and TER against sacreBLEU (tests/golden/make_metrics.py), WER and CER against jiwer (make_error_rates.py),
// ROUGE against rouge-score (make_rouge.py).
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "heed/text/metric/all.h"
#include "heed/text/metric/resample.h"

namespace heed::metric {
namespace {

using Json = nlohmann::json;

const Json& golden() {
  static const Json all = Json::parse(std::ifstream(HEED_TEST_DATA "/../golden/metrics.json"));
  return all;
}

Smoothing smoothing_of(const std::string& name) {
  const std::map<std::string, Smoothing> all = {
      {"exp", Smoothing::exp}, {"none", Smoothing::none}, {"floor", Smoothing::floor}, {"add-k", Smoothing::add}};
  return all.at(name);
}

/// Options as sacreBLEU names them.
std::unique_ptr<TextMetric> made(const Json& setting) {
  if (setting.at("metric") == "BLEU") {
    BleuOptions options;
    options.tokenise = tokenisation_of(setting.value("tokenize", "13a"));
    options.lowercase = setting.value("lowercase", false);
    options.smoothing = smoothing_of(setting.value("smooth_method", "exp"));
    options.order = setting.value("max_ngram_order", size_t{4});
    options.effective_order = setting.value("effective_order", false);
    return std::make_unique<Bleu>(options);
  }
  if (setting.at("metric") == "CHRF") {
    ChrfOptions options;
    options.characters = setting.value("char_order", size_t{6});
    options.words = setting.value("word_order", size_t{0});
    options.beta = setting.value("beta", size_t{2});
    options.lowercase = setting.value("lowercase", false);
    options.whitespace = setting.value("whitespace", false);
    options.eps_smoothing = setting.value("eps_smoothing", false);
    return std::make_unique<Chrf>(options);
  }
  TerOptions options;
  options.normalise = setting.value("normalized", false);
  options.no_punctuation = setting.value("no_punct", false);
  options.asian = setting.value("asian_support", false);
  options.case_sensitive = setting.value("case_sensitive", false);
  return std::make_unique<Ter>(options);
}

struct Segments {
  Texts hypotheses;
  std::vector<Texts> references;

  explicit Segments(const Json& json) {
    for (const Json& segment : json) {
      hypotheses.push_back(segment[0]);
      references.push_back(segment[1]);
    }
  }
};

class Golden : public testing::TestWithParam<std::string> {};

TEST_P(Golden, AsSacreBleu) {
  const std::unique_ptr<TextMetric> metric = made(golden().at("settings").at(GetParam()));
  size_t lines = 0;
  for (const Json& json : golden().at("cases")) {
    SCOPED_TRACE(json.at("name").get<std::string>());
    const Segments segments(json.at("segments"));
    const Json& expected = json.at("scores").at(GetParam());
    const Statistics statistics = metric->statistics(segments.hypotheses, segments.references);
    const Score score = metric->score(statistics);
    EXPECT_NEAR(score.value, expected.at("value"), 1e-9);
    EXPECT_EQ(metric->settings(), expected.at("settings"));
    const std::vector<double> total = statistics.total();
    ASSERT_EQ(total.size(), expected.at("total").size());
    for (size_t i = 0; i < total.size(); ++i) EXPECT_NEAR(total[i], expected["total"][i], 1e-9) << "statistic " << i;
    if (!expected.contains("line")) continue;
    ++lines;
    EXPECT_EQ(score.line(), expected["line"]);
    ASSERT_EQ(expected["segments"].size(), segments.hypotheses.size());
    for (size_t i = 0; i < segments.hypotheses.size(); ++i)
      EXPECT_NEAR(metric->segment_score(segments.hypotheses[i], segments.references[i]).value, expected["segments"][i],
                  1e-9)
          << "segment " << i;
  }
  EXPECT_GT(lines, 10u);
}

std::vector<std::string> setting_names() {
  std::vector<std::string> names;
  for (const auto& [name, setting] : golden().at("settings").items()) names.push_back(name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Settings, Golden, testing::ValuesIn(setting_names()), [](const auto& info) {
  std::string name = info.param;
  for (char& c : name)
    if (!isalnum(static_cast<unsigned char>(c))) c = c == '+' ? 'p' : '_';
  return name;
});

// The random numbers differ from those of sacreBLEU, so its results are met as closely as its number of samples allows.
TEST(GoldenResampling, AsSacreBleu) {
  const Json& json = golden().at("comparisons");
  std::vector<Texts> references;
  for (const Json& reference : json.at("references")) references.push_back({reference});
  for (const std::string name : {"bleu", "chrf", "ter"}) {
    SCOPED_TRACE(name);
    const auto metric = make_metric(name);
    std::vector<Statistics> systems;
    for (const Json& system : json.at("systems"))
      systems.push_back(metric->statistics(system.get<Texts>(), references));
    for (size_t i = 0; i < systems.size(); ++i) {
      const Interval interval = confidence(*metric, systems[i], {.samples = 4000});
      const double half = json.at("half").at(name)[i];
      EXPECT_NEAR(interval.mean, json.at("mean").at(name)[i], 0.05 * half);
      EXPECT_NEAR(interval.half(), half, 0.05 * half);
    }
    for (size_t i = 1; i < systems.size(); ++i) {
      const Comparison bootstrap = paired_bootstrap(*metric, systems[0], systems[i], {.samples = 4000});
      EXPECT_NEAR(bootstrap.p, json.at("reached").at(name + "-bs")[i - 1], 0.02);
      const Comparison randomised = approximate_randomisation(*metric, systems[0], systems[i]);
      EXPECT_NEAR(randomised.p, json.at("reached").at(name + "-ar")[i - 1], 0.02);
      if (name == "ter") continue;  // the others' differences are never equal, so the rule for that changes nothing
      EXPECT_NEAR(bootstrap.p, json.at("exceeded").at(name + "-bs")[i - 1], 0.02);
      EXPECT_NEAR(randomised.p, json.at("exceeded").at(name + "-ar")[i - 1], 0.02);
    }
  }
}

TEST(Golden, ErrorRatesAreThoseOfJiwer) {
  const Json all = Json::parse(std::ifstream(HEED_TEST_DATA "/../golden/error_rates.json"));
  const auto wer = make_metric("wer"), per = make_metric("per"), cer = make_metric("cer");
  for (const Json& each : all.at("cases")) {
    SCOPED_TRACE(each.at("name"));
    const auto said = each.at("hypotheses").get<Texts>();
    std::vector<Texts> right;
    for (const Json& text : each.at("references")) right.push_back({text});
    EXPECT_NEAR(wer->score(said, right).value, each.at("wer"), 1e-9);
    EXPECT_NEAR(per->score(said, right).value, each.at("wer"), 1e-9);
    EXPECT_NEAR(cer->score(said, right).value, each.at("cer"), 1e-9);
    for (size_t i = 0; i < said.size(); ++i)
      EXPECT_NEAR(wer->segment_score(said[i], right[i]).value, each.at("segments").at(i), 1e-9) << said[i];
  }
}

TEST(RougeGolden, AsRougeScore) {
  const Json all = Json::parse(std::ifstream(HEED_TEST_DATA "/../golden/rouge.json"));
  size_t segments = 0;
  for (const Json& json : all.at("cases")) {
    SCOPED_TRACE(json.at("name").get<std::string>());
    const Texts said = json.at("hypotheses");
    const std::vector<Texts> right = json.at("references");
    for (const char* name : {"rouge-1", "rouge-2", "rouge-l"}) {
      const std::unique_ptr<TextMetric> metric = make_metric(name);
      const std::vector<double> expected = json.at(name);
      ASSERT_EQ(expected.size(), said.size());
      double sum = 0.0;
      for (size_t i = 0; i < said.size(); ++i) {
        EXPECT_NEAR(metric->segment_score(said[i], right[i]).value, expected[i], 1e-9) << name << ", segment " << i;
        sum += expected[i];
        ++segments;
      }
      EXPECT_NEAR(metric->score(said, right).value, sum / static_cast<double>(said.size()), 1e-9) << name;
    }
  }
  EXPECT_GT(segments, 250u);
}

}  // namespace
}  // namespace heed::metric
