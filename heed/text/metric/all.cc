#include "heed/text/metric/all.h"

#include <vector>

#include "heed/base/list.h"
#include "heed/text/metric/distinct.h"
#include "heed/text/metric/error_rate.h"
#include "heed/text/metric/exact.h"
#include "heed/text/metric/f1.h"
#include "heed/text/metric/rouge.h"

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
      {"bleu", "how many n-grams of words (n = 1 to 4) of the outputs a reference has too, as sacreBLEU computes it",
       "100 min(1, e^(1 - r / c)) (p_1 p_2 p_3 p_4)^(1/4); p_n: share of the outputs' n-grams that match, c and r: "
       "words of outputs and nearest references",
       true, [](Options options) -> Made { return std::make_unique<Bleu>(options.bleu); }},
      {"chrf", "how many n-grams of characters (n = 1 to 6) outputs and references share, as sacreBLEU computes it",
       "100 * 5 P R / (4 P + R); P, R: means over n of matching / all n-grams of the outputs, of the references", true,
       [](Options options) { return chrf(options, 0); }},
      {"chrf++", "chrf with n-grams of words (n = 1, 2) among the others, as sacreBLEU computes it",
       "100 * 5 P R / (4 P + R); P, R: means over all 8 kinds of n-grams", true,
       [](Options options) { return chrf(options, 2); }},
      {"ter", "edits per word of the references, where moving a run of words is one edit, as sacreBLEU computes it",
       "100 (substitutions + insertions + deletions + moves) / words of a reference, on average over its references",
       false, [](Options options) -> Made { return std::make_unique<Ter>(options.ter); }},
      {"rouge-1", "how many words outputs and references share, as rouge-score computes it: for summaries",
       "100 mean of 2 P R / (P + R); P, R: shared words / those of the output, of the reference", true,
       [](Options) -> Made { return std::make_unique<Rouge>(RougeKind::one); }},
      {"rouge-2", "how many pairs of neighbouring words outputs and references share, as rouge-score computes it",
       "100 mean of 2 P R / (P + R); P, R: shared pairs / those of the output, of the reference", true,
       [](Options) -> Made { return std::make_unique<Rouge>(RougeKind::two); }},
      {"rouge-l",
       "the longest sequence of words that output and reference share, in order but with gaps, as rouge-score "
       "computes it",
       "100 mean of 2 P R / (P + R); P, R: its length / words of the output, of the reference", true,
       [](Options) -> Made { return std::make_unique<Rouge>(RougeKind::longest); }},
      {"distinct-1", "the share of words that are different ones, over all outputs: how varied they are",
       "100 different words / all words of the outputs", true,
       [](Options o) -> Made { return std::make_unique<Distinct>(1, o.outputs); }, false, true},
      {"distinct-2", "the share of pairs of neighbouring words that are different ones, over all outputs",
       "100 different pairs / all pairs of the outputs", true,
       [](Options o) -> Made { return std::make_unique<Distinct>(2, o.outputs); }, false, true},
      {"exact", "the share of outputs that are equal to a reference, byte for byte", "100 equal / outputs", true,
       [](Options) -> Made { return std::make_unique<Exact>(ExactKind::exact); }},
      {"accuracy", "the share of labels that are right; blanks around them do not count", "100 right / labels", true,
       [](Options) -> Made { return std::make_unique<Exact>(ExactKind::accuracy); }},
      {"macro_f1", "the mean of the F1 of each label that was given or right, so that all labels count the same",
       "100 / L sum_l 2 both_l / (given_l + right_l); L: labels, both: given and right", true,
       [](Options o) -> Made { return std::make_unique<F1>(F1Kind::macro, o.labels, o.label_separator); }, true},
      {"micro_f1",
       "F1 of all labels together, so that all texts count the same; of one label per text it is the accuracy",
       "100 * 2 sum_l both_l / sum_l (given_l + right_l)", true,
       [](Options o) -> Made { return std::make_unique<F1>(F1Kind::micro, o.labels, o.label_separator); }},
      {"ser",
       "the share of outputs that are equal to no reference: the sequence error rate, in papers on spelling to sound "
       "the "
       "word error rate",
       "100 (outputs - equal) / outputs", false,
       [](Options) -> Made { return std::make_unique<Exact>(ExactKind::sequence_error); }},
      {"wer", "edits per word (between the blanks of Unicode), to the nearest reference, as jiwer computes it",
       "100 (substitutions + insertions + deletions) / words of the references; may exceed 100", false,
       [](Options) -> Made { return std::make_unique<ErrorRateMetric>(ErrorUnit::word); }},
      {"per", "edits per phone (between blanks), to the nearest reference: the same numbers as wer",
       "100 (substitutions + insertions + deletions) / phones of the references; may exceed 100", false,
       [](Options) -> Made { return std::make_unique<ErrorRateMetric>(ErrorUnit::phone); }},
      {"cer", "edits per character (code point), to the nearest reference",
       "100 (substitutions + insertions + deletions) / characters of the references; may exceed 100", false,
       [](Options) -> Made { return std::make_unique<ErrorRateMetric>(ErrorUnit::character); }},
  };
  return all;
}

const MetricEntry& find_metric(std::string_view name) {
  static const List<MetricEntry> list("metric", all_metrics());
  return list.find(name);
}

std::unique_ptr<TextMetric> make_metric(std::string_view name, const MetricOptions& options) {
  return find_metric(name).make(options);
}

std::unique_ptr<TextMetric> make_metric_for(std::span<const std::string> hypotheses, std::span<const Texts> references,
                                            std::string_view name, MetricOptions options) {
  const MetricEntry& entry = find_metric(name);
  if (entry.needs_labels) options.labels = all_labels(hypotheses, references, options.label_separator);
  if (entry.needs_outputs) options.outputs = {hypotheses.begin(), hypotheses.end()};
  return entry.make(options);
}

}  // namespace heed::metric
