// How good a trained model is: heed/text/metric for Python. What users see is python/heed/_evaluation.py.
#include <pybind11/stl.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "bindings.h"
#include "heed/checkpoint/trained_model.h"
#include "heed/data/lines.h"
#include "heed/data/plain_files.h"
#include "heed/model/search/tape_pool.h"
#include "heed/predict/predictor.h"
#include "heed/task/task.h"
#include "heed/text/label_set.h"
#include "heed/text/metric/all.h"
#include "heed/text/metric/calibration.h"
#include "heed/text/metric/confusion.h"
#include "heed/text/metric/f1.h"
#include "heed/text/tokeniser.h"
#include "heed/train/recipe/of_model.h"
#include "loaded.h"

namespace heed::python {
namespace {

using predict::Predictor;

bool gives_labels(const Predictor& predictor) { return predictor.model().task().answers() == task::AnswerKind::label; }

bool reads_running_text(const Predictor& predictor) { return predictor.model().task().reads_running_text(); }

/// What separates several labels of a text; empty: it has one.
const std::string& separator_of(const Predictor& predictor) {
  return predictor.model().description.answers.label_separator;
}

std::vector<std::string> labels_of(const Predictor& predictor) {
  std::vector<std::string> labels;
  if (!gives_labels(predictor)) return labels;
  const text::Tokeniser& vocabulary = predictor.target();
  for (int32_t id = text::kSpecials; id < vocabulary.size(); ++id) labels.push_back(vocabulary.token(id));
  return labels;
}

/// What `heed evaluate` judges this model by, the first being the model's own; none of one whose answers are no texts.
std::vector<std::string> metrics_of(const Predictor& predictor) {
  const recipe::Recipe recipe = recipe::of_model(predictor.model());
  if (recipe.task().metrics().empty()) return {};
  const std::string& own = recipe.validate.metric;
  std::vector<std::string> metrics = {own != "loss" ? own : recipe.task().metrics().front()};
  const auto also = gives_labels(predictor) ? std::vector<std::string>{"accuracy", "macro_f1", "micro_f1"}
                                            : std::vector<std::string>{"exact"};
  for (const std::string& name : also)
    if (metrics.front() != name) metrics.push_back(name);
  return metrics;
}

/// What a model is for.
py::dict purpose_of(const Loaded& model) {
  const Predictor& predictor = model.predictor();
  const bool texts = reads_running_text(predictor);
  py::dict d;
  d["continues_texts"] = texts && predictor.model().task().writes();
  d["running_text"] = texts;
  d["labels"] = labels_of(predictor);
  d["metrics"] = texts ? std::vector<std::string>() : metrics_of(predictor);
  return d;
}

/// [lines, labels] -> (probabilities, what is wrong with each line). A line without an answer has NaN.
py::tuple label_probabilities(const Loaded& model, const std::vector<std::string>& lines) {
  const std::vector<std::string> labels = labels_of(model.predictor());
  expect(!labels.empty(), "predict_proba: this model does not give labels");
  const bool several = !separator_of(model.predictor()).empty();
  predict::Options options;
  options.nbest = std::ssize(labels) + (several ? 1 : 0);
  options.alignments = false;
  const auto said = model.ask([&](const Predictor& predictor) { return predictor.predict_all(lines, options); });
  std::unordered_map<std::string_view, size_t> place;
  for (size_t i = 0; i < labels.size(); ++i) place.emplace(labels[i], i);
  std::vector<double> all(lines.size() * labels.size(), std::numeric_limits<double>::quiet_NaN());
  std::vector<std::string> errors;
  for (size_t i = 0; i < lines.size(); ++i) {
    errors.push_back(said[i].error);
    for (size_t k = several ? 1 : 0; k < said[i].nbest.size(); ++k)  // before single labels comes the set of them
      all[i * labels.size() + place.at(said[i].nbest[k].text)] = std::exp(said[i].nbest[k].log_probability);
  }
  return py::make_tuple(py::array_t<double>({lines.size(), labels.size()}, all.data()), errors);
}

data::References of_lines(const std::string& sources, const std::string& targets) {
  data::References found;
  const auto read = [](const std::string& path, auto add) {
    data::LineReader reader(path);
    for (std::string line; reader.next(line);) add(line);
  };
  read(sources, [&](const std::string& line) { found.source.push_back(line); });
  read(targets, [&](const std::string& line) { found.targets.push_back({line}); });
  expect(found.source.size() == found.targets.size(), ErrorKind::data, "'{}' has {} lines, but '{}' has {}", sources,
         found.source.size(), targets, found.targets.size());
  return found;
}

/// The lines of a TSV, read as the training data was, or of two files; without any the validation data of the training,
/// from the same files: (sources, right answers of each, warning).
py::tuple references(const Loaded& model, const std::vector<std::string>& files) {
  const trained::TrainedModel& trained = model.predictor().model();
  if (files.empty())
    expect(!trained.training.recipe.empty(), ErrorKind::file,
           "evaluate: the model was not trained here, so no recipe says what it is validated on: pass data");
  const recipe::Recipe recipe = recipe::of_model(trained);
  std::string warning;
  const data::References all = run([&]() -> data::References {
    if (files.size() == 2) return of_lines(files[0], files[1]);
    if (files.size() == 1) {
      data::Report report;
      data::References found = recipe.task().read_references(files[0], recipe.data, report);
      warning = report.text();
      return found;
    }
    data::expect_plain_files(recipe.data);
    const auto texts = recipe.task().read(recipe.data, recipe.train.seed);
    warning = texts->validation_report();
    return texts->validation();
  });
  return py::make_tuple(all.source, all.targets, warning);
}

py::list scores_of(const std::vector<std::string>& outputs, const std::vector<metric::Texts>& references,
                   const std::vector<std::string>& names, const metric::MetricOptions& options) {
  py::list all;
  for (const std::string& name : names) {
    const metric::Score score =
        run([&] { return metric::make_metric_for(outputs, references, name, options)->score(outputs, references); });
    py::dict d, parts;
    d["metric"] = name;
    d["name"] = score.name;
    d["score"] = score.value;
    d["higher_is_better"] = score.higher_is_better;
    for (const auto& [part, value] : score.parts) parts[py::str(part)] = value;
    d["parts"] = parts;
    all.append(d);
  }
  return all;
}

/// Of each label how often it is found, which are taken for which, and how far probabilities can be trusted.
void add_labels(py::dict& d, const std::vector<std::string>& outputs, const std::vector<metric::Texts>& references,
                const std::vector<double>& probabilities, const std::string& between) {
  py::list labels;
  for (const metric::LabelCount& c : metric::count_labels(outputs, references, between)) {
    py::dict one;
    one["label"] = c.label;
    one["texts"] = static_cast<int64_t>(c.right);
    one["given"] = static_cast<int64_t>(c.given);
    one["precision"] = c.precision();
    one["recall"] = c.recall();
    one["f1"] = c.f1();
    labels.append(one);
  }
  d["labels"] = labels;
  std::vector<bool> right;
  for (size_t i = 0; i < outputs.size(); ++i)
    right.push_back(text::labels_of(outputs[i], between) ==
                    text::labels_of(metric::right_labels(outputs[i], references[i], between), between));
  d["calibration_error"] = 100 * metric::calibration(probabilities, right).error;
  if (!between.empty()) return;
  const metric::Confusion confusion = metric::confusion(outputs, references);
  d["confusion"] = py::make_tuple(confusion.labels, confusion.counts);
}

/// Outputs against right answers. `probabilities`: of the outputs, if they are labels; otherwise none.
py::dict judge(const Loaded& model, const std::vector<std::string>& outputs,
               const std::vector<metric::Texts>& references, const std::vector<std::string>& metrics,
               const std::vector<double>& probabilities) {
  const trained::TrainedModel& trained = model.predictor().model();
  const metric::MetricOptions options = trained.task().metric_options(trained.description);
  py::dict d;
  d["metrics"] = scores_of(outputs, references, metrics, options);
  if (!probabilities.empty()) add_labels(d, outputs, references, probabilities, options.label_separator);
  return d;
}

/// How well a model of running text predicts that of a file: the counts, as task::TextScore has them.
py::dict judge_text(const Loaded& model, const std::string& file, int64_t stride) {
  const task::TextScore s = model.ask([&](const Predictor& predictor) {
    expect(reads_running_text(predictor), "evaluate: this model is not one of running text");
    if (stride != 0) predictor.check({.stride = stride});
    search::TapePool tapes;
    task::LoadedModel asked = predictor.model().loaded(tapes);
    asked.stride = stride;
    return *predictor.model().task().score_file(asked, file, [](int64_t) {});
  });
  py::dict d;
  d["lines"] = s.lines;
  d["characters"] = s.characters;
  d["tokens"] = s.tokens;
  d["correct"] = s.correct;
  d["unknown"] = s.unknown;
  d["log_probability"] = s.log_probability;
  d["warning"] = s.warning;
  return d;
}

}  // namespace

void define_evaluate(py::module_& m) {
  m.def("purpose_of", &purpose_of, py::arg("predictor"));
  m.def("label_probabilities", &label_probabilities, py::arg("predictor"), py::arg("lines"));
  m.def("references", &references, py::arg("predictor"), py::arg("files"));
  m.def("judge", &judge, py::arg("predictor"), py::arg("outputs"), py::arg("references"), py::arg("metrics"),
        py::arg("probabilities"));
  m.def("judge_text", &judge_text, py::arg("predictor"), py::arg("file"), py::arg("stride"));
}

}  // namespace heed::python
