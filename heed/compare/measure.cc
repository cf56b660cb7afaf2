#include "heed/compare/measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <span>
#include <utility>

#include "heed/checkpoint/run_folder.h"
#include "heed/checkpoint/trained_model.h"
#include "heed/compare/alignment.h"
#include "heed/model/search/score.h"
#include "heed/tensor/tape.h"
#include "heed/text/metric/all.h"
#include "heed/text/metric/f1.h"
#include "heed/text/tokens.h"
#include "heed/train/evaluate.h"
#include "heed/train/recipe/of_model.h"

namespace heed::compare {

namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kMostAligned = 200;       // lines whose alignments are looked at
constexpr size_t kShort = 16, kLong = 40;  // source tokens of the line for the picture
constexpr size_t kMostRows = 60;           // of the picture: a model that learned little may never stop

/// The statistics of the perplexity: one example at a time, in order, as a model that carries a state reads them.
std::vector<std::vector<double>> losses_of(const model::Model& model, const data::Dataset& examples) {
  std::vector<std::vector<double>> all;
  Tape tape({.recording = false, .training = false});
  search::each_loss(model, tape, examples, 1, [&](const data::Batch&, const OutputLoss& loss) {
    all.push_back({loss.negative_log_likelihood, static_cast<double>(loss.rows)});
  });
  return all;
}

std::vector<std::vector<double>> rows_of(const metric::Statistics& statistics) {
  std::vector<std::vector<double>> rows;
  for (size_t i = 0; i < statistics.segments(); ++i) rows.emplace_back(statistics[i].begin(), statistics[i].end());
  return rows;
}

bool is_ascii(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

/// Which line to show: of a good length, and if possible in letters that every machine has a font for. It depends on
/// the sources alone, so that it is the same for every variant. None: -1.
int64_t line_to_show(std::span<const std::string> sources, std::span<const task::Prediction> answers) {
  int64_t best = -1, best_points = 0;
  for (size_t i = 0; i < answers.size(); ++i) {
    const size_t tokens = answers[i].source_tokens.size();
    if (tokens < 1 || tokens > kLong) continue;
    const int64_t points = 1 + (tokens >= kShort ? 2 : 0) + (is_ascii(sources[i]) ? 1 : 0);
    if (points > best_points) {
      best = static_cast<int64_t>(i);
      best_points = points;
    }
  }
  return best;
}

/// Or one for each vector that a text is pooled into (structured attention).
bool has_a_row_per_token(const task::Output& output) { return output.alignment.size() <= output.tokens.size(); }

std::optional<Picture> picture_of(const std::string& line, const task::Prediction& answer,
                                  const std::string& reference) {
  if (answer.nbest.empty() || answer.nbest.front().alignment.empty()) return {};
  const task::Output& output = answer.nbest.front();
  Picture picture{line, answer.source_tokens, {}, output.text, reference, output.alignment};
  picture.weights.resize(std::min(picture.weights.size(), kMostRows));
  for (size_t r = 0; r < picture.weights.size(); ++r) {
    picture.rows.push_back(has_a_row_per_token(output) ? output.tokens[r] : fmt::format("{}", r + 1));
    if (picture.weights[r].size() != picture.source.size()) return {};
  }
  return picture;
}

/// Speed, and the outputs.
metric::Texts decode(const task::Task& task, const task::LoadedModel& asked, std::span<const std::string> sources,
                     Result& result) {
  const Clock::time_point begin = Clock::now();
  const std::vector<task::Prediction> answers = task.predict(asked, sources, {.alignments = false});
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  if (seconds > 0) result.decoding_speed = static_cast<double>(sources.size()) / seconds;
  metric::Texts outputs;
  for (const task::Prediction& answer : answers) outputs.push_back(answer.text());
  return outputs;
}

void look_at_alignments(const task::Task& task, const task::LoadedModel& asked, const data::References& lines,
                        size_t count, Result& result) {
  const std::span sources(lines.source.data(), std::min(count, kMostAligned));
  const std::vector<task::Prediction> answers = task.predict(asked, sources, {});
  AlignmentFacts facts;
  for (const task::Prediction& answer : answers)
    if (!answer.nbest.empty()) facts.add(answer.nbest.front().alignment, has_a_row_per_token(answer.nbest.front()));
  result.entropy = facts.entropy();
  result.monotonicity = facts.monotonicity();
  const int64_t shown = line_to_show(sources, answers);
  if (shown < 0) return;
  const auto at = static_cast<size_t>(shown);
  result.picture = picture_of(sources[at], answers[at], lines.targets[at].front());
}

/// The labels that the metric tells apart, the same for every variant: also those that this one never gave. None: the
/// metric does not ask for them.
std::vector<std::string> labels_for(const std::string& metric, const task::Task& task, const task::LoadedModel& asked,
                                    const metric::Texts& outputs, std::span<const metric::Texts> references) {
  if (!metric::find_metric(metric).needs_labels) return {};
  std::vector<std::string> labels =
      metric::all_labels(outputs, references, task.metric_options(asked.description).label_separator);
  if (task.answers() == task::AnswerKind::label)
    for (int64_t id = text::kSpecials; id < asked.vocabularies.target->size(); ++id)
      labels.push_back(asked.vocabularies.target->token(static_cast<int32_t>(id)));
  std::sort(labels.begin(), labels.end());
  labels.erase(std::unique(labels.begin(), labels.end()), labels.end());
  return labels;
}

void add_score(const metric::Score& score, Result& result) {
  result.metric_name = score.name;
  result.higher_is_better = score.higher_is_better;
  result.value = score.value;
}

}  // namespace

Result measure(const std::filesystem::path& folder, const task::Corpus& corpus) {
  const trained::TrainedModel model = trained::load_model(file::RunFolder(folder).open("best"), &float32_weights);
  const recipe::Recipe recipe = recipe::of_model(model);
  const recipe::ValidateOptions& how = recipe.validate;
  search::TapePool tapes;
  const task::LoadedModel asked = model.loaded(tapes);
  const task::Task& task = model.task();

  Result result;
  result.parameters = model.parameters->count();
  result.loss =
      train::evaluate(task, asked, corpus, {.batch_tokens = recipe.train.batch_tokens, .decode = 0, .samples = 0}).nll;
  if (!std::isfinite(result.loss)) return {.error = "the loss on the validation data is not finite"};

  const data::References& lines = corpus.references;
  const size_t all = lines.source.size(), count = how.decode < 0 ? all : std::min(all, static_cast<size_t>(how.decode));
  metric::Texts outputs;
  if (count > 0) {
    outputs = decode(task, asked, std::span(lines.source.data(), count), result);
    look_at_alignments(task, asked, lines, count, result);
  }
  if (how.metric == "loss") {
    result.statistics = losses_of(*model.model, *corpus.valid);
    // The mean of the whole: long texts are read in streams, which begin elsewhere one by one.
    const double whole[] = {result.loss, 1.0};
    result.metric = "perplexity";
    add_score(metric_of(result)->score(whole), result);
  } else {
    const std::span right(lines.targets.data(), count);
    result.metric = how.metric;
    result.labels = labels_for(how.metric, task, asked, outputs, right);
    result.label_separator = task.metric_options(asked.description).label_separator;
    const std::unique_ptr<metric::Metric> metric = metric_of(result);
    const auto& texts = dynamic_cast<const metric::TextMetric&>(*metric);
    const metric::Statistics statistics = texts.statistics(outputs, right);
    result.statistics = rows_of(statistics);
    add_score(metric->score(statistics), result);
  }
  return result;
}

}  // namespace heed::compare
