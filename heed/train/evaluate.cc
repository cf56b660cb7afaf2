#include "heed/train/evaluate.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "heed/base/error.h"
#include "heed/model/search/score.h"
#include "heed/tensor/tape.h"
#include "heed/text/metric/all.h"

namespace heed::train {

namespace {

void add_losses(Evaluation& e, const model::Model& model, const data::Dataset& examples, int64_t batch_tokens) {
  int64_t predictions = 0, correct = 0;
  Tape tape({.recording = false, .training = false});
  search::each_loss(model, tape, examples, batch_tokens, [&](const data::Batch&, const OutputLoss& loss) {
    e.nll += loss.negative_log_likelihood;
    correct += loss.correct;
    predictions += loss.rows;
  });
  if (examples.characters() > 0)
    e.bits_per_character = e.nll / std::numbers::ln2 / static_cast<double>(examples.characters());
  const auto count = static_cast<double>(std::max<int64_t>(predictions, 1));
  e.nll /= count;
  e.perplexity = std::exp(e.nll);
  e.token_accuracy = static_cast<double>(correct) / count;
}

/// What a model of running text writes by itself.
void add_written_text(Evaluation& e, const task::Task& task, const task::LoadedModel& asked, int64_t samples) {
  constexpr int64_t kLongest = 200;
  constexpr double kTemperature = 0.8;
  if (!std::isfinite(e.nll) || samples == 0) return;
  const std::string nothing[] = {""};
  const std::vector<task::Prediction> said =
      task.predict(asked, nothing,
                   {.max_length = std::min({kLongest, asked.description.answers.longest, asked.model.max_positions()}),
                    .sample = true,
                    .temperature = kTemperature,
                    .alignments = false});
  if (said.front().error.empty()) e.samples.push_back({"", said.front().text(), ""});
}

}  // namespace

Evaluation evaluate(const task::Task& task, const task::LoadedModel& asked, const task::Corpus& corpus,
                    const EvaluateOptions& options) {
  Evaluation e;
  add_losses(e, asked.model, *corpus.valid, options.batch_tokens);

  if (task.reads_running_text()) {
    if (task.writes()) add_written_text(e, task, asked, options.samples);
    return e;
  }
  const data::References& references = corpus.references;
  const size_t all = references.source.size();
  const size_t count = options.decode < 0 ? all : std::min(all, static_cast<size_t>(options.decode));
  const std::span sources(references.source.data(), count);
  std::vector<std::string> outputs(count);
  // A model that gives NaN has no outputs; the training notices by itself.
  if (std::isfinite(e.nll) && count > 0) {
    const std::vector<task::Prediction> said = task.predict(asked, sources, {.alignments = false});
    for (size_t i = 0; i < count; ++i) {
      expect(said[i].error.empty(), ErrorKind::data, "validation: line {}: {}", references.line[i], said[i].error);
      outputs[i] = said[i].text();
    }
  }
  const std::span right(references.targets.data(), count);
  e.exact = metric::exact_match(outputs, right);
  e.characters = metric::character_error_rate(outputs, right);
  if (!options.metric.empty()) {
    const metric::MetricOptions how = task.metric_options(asked.description);
    e.task = metric::make_metric_for(outputs, right, options.metric, how)->score(outputs, right);
  }
  for (size_t i = 0; i < std::min(count, static_cast<size_t>(options.samples)); ++i)
    e.samples.push_back({sources[i], outputs[i], right[i].front()});
  return e;
}

}  // namespace heed::train
