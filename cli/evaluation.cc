#include "cli/evaluation.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "heed/text/metric/check.h"
#include "heed/text/metric/unicode.h"
#include "heed/version.h"

namespace heed::cli {

namespace {

using file::Json;

/// "gro@@ ß" -> "groß"
std::string without_bpe(const std::string& text) {
  constexpr std::string_view kMark = "@@";
  std::string joined;
  for (size_t i = 0; i < text.size();) {
    const bool mark = text.compare(i, kMark.size(), kMark) == 0;
    const size_t after = i + kMark.size();
    if (mark && (after >= text.size() || text[after] == ' ')) {
      i = after + 1;
    } else {
      joined += text[i++];
    }
  }
  return joined;
}

template <class Change>
void change_all(Outputs& outputs, const Change& change) {
  const auto each = [&](metric::Texts& texts) { std::transform(texts.begin(), texts.end(), texts.begin(), change); };
  each(outputs.hypotheses);
  if (outputs.baseline) each(*outputs.baseline);
  for (metric::Texts& references : outputs.references) each(references);
}

/// These metrics have an option for lower case, which is part of their signature.
bool knows_case(const std::string& metric) {
  return metric == "bleu" || metric == "ter" || metric == "chrf" || metric == "chrf++";
}

std::string signature_of(const metric::TextMetric& metric, const Outputs& outputs, const EvaluationOptions& o) {
  const auto fewer = [](const metric::Texts& a, const metric::Texts& b) { return a.size() < b.size(); };
  const auto [least, most] = std::minmax_element(outputs.references.begin(), outputs.references.end(), fewer);
  std::string text = "nrefs:";
  if (outputs.references.empty() || least->size() == most->size())
    text += fmt::format("{}", outputs.references.empty() ? 0 : most->size());
  else
    text += "var";
  const bool bootstrap = o.confidence || (outputs.baseline && !o.randomisation);
  if (bootstrap) text += "|bs:1000";
  if (outputs.baseline && o.randomisation) text += "|ar:10000";
  if (bootstrap || outputs.baseline) text += fmt::format("|seed:{}", o.seed);
  if (const std::string settings = metric.settings(); !settings.empty()) text += "|" + settings;
  return text + fmt::format("|version:heed-{}", HEED_VERSION);
}

Evaluated evaluate_one(const std::string& name, const Outputs& outputs, const EvaluationOptions& o) {
  metric::Texts compared = outputs.hypotheses;
  if (outputs.baseline) compared.insert(compared.end(), outputs.baseline->begin(), outputs.baseline->end());
  const std::unique_ptr<metric::TextMetric> metric =
      metric::make_metric_for(compared, outputs.references, name, o.metric);
  Evaluated e;
  e.key = name;
  e.meaning = metric::find_metric(name).meaning;
  e.signature = signature_of(*metric, outputs, o);
  const metric::Statistics statistics = metric->statistics(outputs.hypotheses, outputs.references);
  e.score = metric->score(statistics);
  if (o.confidence) e.interval = metric::confidence(*metric, statistics, {.seed = o.seed});
  if (!outputs.baseline) return e;
  const metric::Statistics baseline = metric->statistics(*outputs.baseline, outputs.references);
  e.comparison = o.randomisation ? metric::approximate_randomisation(*metric, baseline, statistics, {10000, o.seed})
                                 : metric::paired_bootstrap(*metric, baseline, statistics, {.seed = o.seed});
  return e;
}

constexpr double kSignificant = 0.05;

}  // namespace

Outputs as_compared(Outputs outputs, const EvaluationOptions& options) {
  if (options.remove_bpe) change_all(outputs, without_bpe);
  if (options.lowercase) change_all(outputs, metric::lowered);
  return outputs;
}

std::vector<Evaluated> evaluate(Outputs outputs, const EvaluationOptions& options) {
  EvaluationOptions o = options;
  o.metric.bleu.lowercase = o.metric.chrf.lowercase = o.lowercase;
  if (o.remove_bpe) change_all(outputs, without_bpe);
  Outputs small;
  if (o.lowercase) {
    metric::expect_references<std::string>(outputs.hypotheses, outputs.references);
    metric::expect_utf8(outputs.hypotheses, outputs.references);
    if (outputs.baseline) metric::expect_utf8(*outputs.baseline, outputs.references);
    small = outputs;
    change_all(small, metric::lowered);
  }
  std::vector<Evaluated> all;
  for (const std::string& name : o.metrics)
    all.push_back(evaluate_one(name, o.lowercase && !knows_case(name) ? small : outputs, o));
  return all;
}

// ---------------------------------------------------------------------------------------------------------------- text

std::string evaluation_text(const std::vector<Evaluated>& all, const std::string& note, const Terminal& terminal) {
  const bool intervals = !all.empty() && all.front().interval;
  const bool compared = !all.empty() && all.front().comparison;
  std::vector<Row> rows;
  Row heading = {"metric", "score"};
  if (intervals) heading.insert(heading.end(), {"95 % interval"});
  if (compared) heading.insert(heading.end(), {"baseline", "difference", "p"});
  heading.emplace_back("meaning");
  rows.push_back(heading);
  for (const Evaluated& e : all) {
    Row row = {e.score.name, fmt::format("{:.2f}", e.score.value)};
    if (intervals) row.push_back(fmt::format("{:.2f} to {:.2f}", e.interval->low, e.interval->high));
    if (compared) {
      const double baseline = e.comparison->baseline.value;
      row.push_back(fmt::format("{:.2f}", baseline));
      row.push_back(fmt::format("{:+.2f}", e.score.value - baseline));
      row.push_back(fmt::format("{:.4f}{}", e.comparison->p, e.comparison->p < kSignificant ? " *" : ""));
    }
    row.push_back(fmt::format("{} is better: {}", e.score.higher_is_better ? "higher" : "lower", e.meaning));
    rows.push_back(row);
  }
  std::string text = table(rows, terminal, 0) + "\n";
  if (!note.empty()) text += paragraph(note, 2, terminal.width()) + "\n";
  if (compared) text += "  * significant: the probability of a difference this large by chance is below 0.05\n\n";
  for (const Evaluated& e : all) {
    const std::string line = e.score.line(e.interval ? e.interval->note() : "");
    text += fmt::format("{}|{}{}\n", e.score.name, e.signature, line.substr(e.score.name.size()));
  }
  return text;
}

// ---------------------------------------------------------------------------------------------------------------- JSON

Json evaluation_json(const std::vector<Evaluated>& all, size_t segments) {
  Json j = Json::object({{"segments", segments}, {"metrics", Json::array()}});
  for (const Evaluated& e : all) {
    Json m = Json::object({{"metric", e.key},
                           {"name", e.score.name},
                           {"score", e.score.value},
                           {"higher_is_better", e.score.higher_is_better},
                           {"signature", e.signature},
                           {"parts", Json::object()}});
    for (const auto& [name, value] : e.score.parts) m["parts"][name] = value;
    if (e.interval)
      m["confidence"] =
          Json::object({{"mean", e.interval->mean}, {"low", e.interval->low}, {"high", e.interval->high}});
    if (e.comparison)
      m["comparison"] = Json::object({{"baseline", e.comparison->baseline.value},
                                      {"difference", e.score.value - e.comparison->baseline.value},
                                      {"p", e.comparison->p},
                                      {"significant", e.comparison->p < kSignificant}});
    j["metrics"].push_back(std::move(m));
  }
  return j;
}

}  // namespace heed::cli
