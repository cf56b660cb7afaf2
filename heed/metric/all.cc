#include "heed/metric/all.h"

#include <vector>

#include "heed/metric/error_rate.h"
#include "heed/metric/exact.h"
#include "heed/metric/f1.h"
#include "heed/tensor/error.h"
#include "heed/tensor/nearest.h"

namespace heed::metric {

namespace {

using Made = std::unique_ptr<TextMetric>;
using Options = const MetricOptions&;

Made chrf(Options options, size_t words) {
  ChrfOptions chosen = options.chrf;
  chosen.words = words;
  return std::make_unique<Chrf>(chosen);
}

}  // namespace

std::span<const MetricEntry> all_metrics() {
  static const std::vector<MetricEntry> all = {
      {"bleu", "n-grams of words that a reference has too, as sacreBLEU", true,
       [](Options options) -> Made { return std::make_unique<Bleu>(options.bleu); }},
      {"chrf", "n-grams of characters that the reference has too, as sacreBLEU", true,
       [](Options options) { return chrf(options, 0); }},
      {"chrf++", "n-grams of characters and words, as sacreBLEU", true,
       [](Options options) { return chrf(options, 2); }},
      {"ter", "edits per word, moved runs of words count once, as sacreBLEU", false,
       [](Options options) -> Made { return std::make_unique<Ter>(options.ter); }},
      {"exact", "percent of the segments equal to a reference", true,
       [](Options) -> Made { return std::make_unique<Exact>(ExactKind::exact); }},
      {"accuracy", "percent of the labels that are right", true,
       [](Options) -> Made { return std::make_unique<Exact>(ExactKind::accuracy); }},
      {"macro_f1", "precision and recall of labels, all labels counting the same", true,
       [](Options o) -> Made { return std::make_unique<F1>(F1Kind::macro, o.labels, o.labels_between); }, true},
      {"micro_f1", "precision and recall of labels, all texts counting the same", true,
       [](Options o) -> Made { return std::make_unique<F1>(F1Kind::micro, o.labels, o.labels_between); }},
      {"wer", "percent of the segments equal to no reference: the word error of spelling to sound", false,
       [](Options) -> Made { return std::make_unique<Exact>(ExactKind::word_error); }},
      {"per", "edits per token between blanks: the phone error rate, in speech the word error rate", false,
       [](Options) -> Made { return std::make_unique<ErrorRateMetric>(ErrorUnit::token); }},
      {"cer", "edits per character", false,
       [](Options) -> Made { return std::make_unique<ErrorRateMetric>(ErrorUnit::character); }},
  };
  return all;
}

namespace {

const MetricEntry& entry_of(std::string_view name) {
  std::vector<std::string> names;
  for (const MetricEntry& entry : all_metrics()) {
    if (entry.name == name) return entry;
    names.push_back(entry.name);
  }
  throw Error(fmt::format("there is no metric '{}'; did you mean '{}'? There are: {}", name, nearest(name, names),
                          fmt::join(names, ", ")));
}

}  // namespace

std::unique_ptr<TextMetric> make_metric(std::string_view name, const MetricOptions& options) {
  return entry_of(name).make(options);
}

std::unique_ptr<TextMetric> make_metric_for(std::span<const std::string> hypotheses, std::span<const Texts> references,
                                            std::string_view name, MetricOptions options) {
  const MetricEntry& entry = entry_of(name);
  if (entry.needs_labels) options.labels = all_labels(hypotheses, references, options.labels_between);
  return entry.make(options);
}

}  // namespace heed::metric
