// Trained models: heed/predict for Python. What users see is python/heed/_trained.py.
#include "heed/predict/predictor.h"

#include <pybind11/stl.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "bindings.h"
#include "heed/checkpoint/checkpoint.h"
#include "heed/checkpoint/trained_model.h"
#include "heed/predict/json.h"
#include "heed/task/decoding_option.h"
#include "heed/text/tokeniser.h"
#include "heed/train/recipe/of_model.h"
#include "heed/view/draw.h"
#include "heed/view/json.h"
#include "heed/view/look.h"
#include "heed/view/page.h"
#include "heed/view/predicted.h"
#include "heed/view/svg.h"
#include "loaded.h"

namespace heed::python {
namespace {

using predict::Output;
using predict::Prediction;
using predict::Predictor;

/// A vocabulary learned from bytes can cut a character in two; Python's strings cannot.
py::str text_of(const std::string& text) {
  return py::reinterpret_steal<py::str>(
      PyUnicode_DecodeUTF8(text.data(), static_cast<py::ssize_t>(text.size()), "replace"));
}

py::list texts_of(const std::vector<std::string>& texts) {
  py::list list;
  for (const std::string& text : texts) list.append(text_of(text));
  return list;
}

/// [rows, cols]; `cols` is that of no rows. Of a picture, the columns are its cells.
py::array_t<float> matrix(const std::vector<std::vector<float>>& rows, size_t cols) {
  if (!rows.empty()) cols = rows.front().size();
  py::array_t<float> array({rows.size(), cols});
  for (size_t i = 0; i < rows.size(); ++i)
    std::copy(rows[i].begin(), rows[i].end(), array.mutable_data(static_cast<py::ssize_t>(i), 0));
  return array;
}

/// A shape as a vector: of a number, pybind11 2.10 makes strides that NumPy 2 does not read.
py::array_t<float> array_of(const std::vector<float>& values) {
  return py::array_t<float>(std::vector<py::ssize_t>{std::ssize(values)}, values.data());
}

py::dict dict_of(const Output& output, size_t sources, bool alignments) {
  py::dict d;
  d["text"] = text_of(output.text);
  d["score"] = output.score;
  d["log_probability"] = output.log_probability;
  d["finished"] = output.finished;
  d["tokens"] = texts_of(output.tokens);
  d["token_log_probabilities"] = array_of(output.token_log_probabilities);
  py::list links;
  for (const predict::Link& link : output.links()) links.append(py::make_tuple(link.source, link.target));
  d["links"] = links;
  py::list times;
  for (const task::WordTime& each : output.times)
    times.append(py::make_tuple(text_of(each.word), each.start, each.end));
  d["times"] = times;
  d["missing"] = texts_of(output.missing);
  d["missing_because"] = text_of(output.missing_because);
  d["reverse_log_probability"] = output.reverse_log_probability;
  d["alignment"] = py::none();
  if (alignments) d["alignment"] = matrix(output.alignment, sources);
  return d;
}

py::dict dict_of(const Prediction& prediction, bool alignments) {
  py::dict d;
  d["error"] = py::none();
  if (!prediction.error.empty()) d["error"] = text_of(prediction.error);
  d["source_tokens"] = texts_of(prediction.source_tokens);
  d["unknown"] = texts_of(prediction.unknown);
  py::list nbest;
  for (const Output& output : prediction.nbest)
    nbest.append(dict_of(output, prediction.source_tokens.size(), alignments));
  d["nbest"] = nbest;
  d["vector"] = py::none();
  if (!prediction.vector.empty()) d["vector"] = array_of(prediction.vector);
  return d;
}

/// What alignment_svg() needs beside that.
void add_drawing(py::dict& d, const Predictor& predictor, const std::string& line, const Prediction& prediction) {
  if (prediction.nbest.empty()) return;
  const Output& best = prediction.nbest.front();
  d["line"] = text_of(line);
  d["rows"] = py::make_tuple("", py::list());
  if (!best.alignment.empty()) {
    const view::Sequence rows = view::alignment_rows(predictor, prediction);
    d["rows"] = py::make_tuple(rows.name, texts_of(rows.tokens));
  }
  d["columns"] = texts_of(prediction.map_rows > 0 ? view::cell_names(prediction) : prediction.source_tokens);
  d["map"] = py::make_tuple(prediction.map_rows, prediction.map_columns);
  d["sentence_tokens"] = prediction.sentence_tokens;
  d["sentence_weights"] = best.sentence_weights;
}

/// The drawing of a prediction, from what predict() said of it.
py::str alignment_svg(const py::dict& found) {
  const auto best = found["nbest"].cast<py::list>()[0].cast<py::dict>();
  const auto weights = best["alignment"].cast<py::array_t<float, py::array::c_style | py::array::forcecast>>();
  const auto rows = found["rows"].cast<std::pair<std::string, std::vector<std::string>>>();
  const auto [map_rows, map_columns] = found["map"].cast<std::pair<int64_t, int64_t>>();
  Output output{.text = best["text"].cast<std::string>(),
                .log_probability = best["log_probability"].cast<double>(),
                .sentence_weights = found["sentence_weights"].cast<std::vector<float>>()};
  for (py::ssize_t r = 0; r < weights.shape(0); ++r)
    output.alignment.emplace_back(weights.data(r, 0), weights.data(r, 0) + weights.shape(1));
  const Prediction prediction{.error = {},
                              .source_tokens = found["source_tokens"].cast<std::vector<std::string>>(),
                              .second_tokens = {},
                              .unknown = {},
                              .sentence_tokens = found["sentence_tokens"].cast<std::vector<int64_t>>(),
                              .nbest = {std::move(output)},
                              .map_rows = map_rows,
                              .map_columns = map_columns};
  const auto line = found["line"].cast<std::string>();
  return text_of(run([&] {
    const view::Example example = view::example_of(line, prediction, {rows.first, "", rows.second});
    return view::svg_text(view::drawing_of(example), view::Colours::own);
  }));
}

/// Weights [rows, columns] in the colours of all drawings.
py::str matrix_svg(const py::array_t<float, py::array::c_style | py::array::forcecast>& weights,
                   std::vector<std::string> rows, std::vector<std::string> columns, std::string title) {
  expect(weights.ndim() == 2 && weights.shape(0) == std::ssize(rows) && weights.shape(1) == std::ssize(columns),
         "weights: expected a name for each row and each column");
  view::Matrix matrix{.title = std::move(title), .columns = std::move(columns), .rows = std::move(rows), .weights = {}};
  matrix.weights.assign(weights.data(), weights.data() + weights.size());
  matrix.legend = true;
  return text_of(run([&] { return view::svg_text(view::drawing_of(matrix), view::Colours::own); }));
}

std::vector<std::string> phrases_of(const py::handle& from) { return from.cast<std::vector<std::string>>(); }

/// A list of (must, must_not, prefix), which python/heed/_trained.py makes.
std::vector<predict::LineRules> line_rules_of(const py::handle& from) {
  std::vector<predict::LineRules> all;
  for (const py::handle each : from) {
    const auto rules = each.cast<py::tuple>();
    all.push_back({phrases_of(rules[0]), phrases_of(rules[1]), rules[2].cast<std::string>()});
  }
  return all;
}

/// The value of one option of decoding.
void set_option(predict::Options& options, const task::DecodingOption& option, const py::object& value) {
  std::visit(
      [&](auto field) {
        auto& target = options.*field;
        using T = std::decay_t<decltype(target)>;
        if constexpr (std::is_same_v<T, std::vector<std::string>>)
          target = phrases_of(value);
        else if constexpr (std::is_same_v<T, std::string>)
          target = value.cast<std::string>();
        else
          target = option_value<T>(option.name, value);
      },
      option.field);
}

/// Names are those of predict::Options, or of other programs (heed/task/decoding_table.h); None is the default.
predict::Options options_of(const py::dict& from) {
  predict::Options options;
  py::dict rest = from.attr("copy")();
  const auto take = [&](const char* name) { return rest.attr("pop")(name, py::none()).cast<py::object>(); };
  for (const task::DecodingOption& option : task::decoding_options())
    if (const py::object value = take(option.name); !value.is_none()) set_option(options, option, value);
  if (const py::object rules = take("line_rules"); !rules.is_none()) options.line_rules = line_rules_of(rules);
  if (const py::object reverse = take("rerank_reverse"); !reverse.is_none())
    options.rerank_reverse = [model =
                                  reverse.cast<std::shared_ptr<Loaded>>()](std::span<const predict::TextPair> pairs) {
      return model->ask_inside([&](const Predictor& predictor) { return predictor.score_all(pairs); });
    };
  if (const py::object first = take("first_line"); !first.is_none())
    options.first_line = option_value<int64_t>("first_line", first);
  if (const py::object wanted = take("alignments"); !wanted.is_none())
    options.alignments = option_value<bool>("alignments", wanted);
  expect(rest.empty(), "unknown option {}", py::str(py::list(rest)).cast<std::string>());
  return options;
}

/// Every option of decoding, for the signature and the documentation of predict().
py::list list_decoding_options() {
  static const predict::Options defaults;
  py::list all;
  for (const task::DecodingOption& option : task::decoding_options()) {
    py::dict one;
    one["name"] = option.name;
    one["meaning"] = option.meaning;
    one["default_text"] = option.default_text();
    one["flag"] = option.flag();
    one["other_names"] = std::vector<std::string>(option.other_names.begin(), option.other_names.end());
    std::visit([&](auto field) { one["default"] = defaults.*field; }, option.field);
    one["none_is_default"] = option.zero != nullptr;
    one["range"] = option.has_range() ? py::object(py::make_tuple(option.least, option.most)) : py::none();
    one["models"] = option.readers;
    all.append(one);
  }
  return all;
}

/// [lines] -> [lines]
py::list predict_all(const Loaded& model, const std::vector<std::string>& lines, const py::dict& given) {
  const predict::Options options = options_of(given);
  const std::vector<Prediction> predictions =
      model.ask([&](const Predictor& predictor) { return predictor.predict_all(lines, options); });
  py::list all;
  for (size_t i = 0; i < predictions.size(); ++i) {
    py::dict one = dict_of(predictions[i], options.alignments);
    if (options.alignments) add_drawing(one, model.predictor(), lines[i], predictions[i]);
    all.append(one);
  }
  return all;
}

/// [lines] -> [lines]: the objects of `heed predict --json --scores --alignments=matrix`.
std::vector<py::str> predict_json(const Loaded& model, const std::vector<std::string>& lines, const py::dict& given) {
  const predict::Options options = options_of(given);
  const std::vector<std::string> all = model.ask([&](const Predictor& predictor) {
    const std::vector<Prediction> predictions = predictor.predict_all(lines, options);
    const auto form = options.alignments ? predict::AlignmentForm::matrix : predict::AlignmentForm::none;
    std::vector<std::string> texts;
    texts.reserve(lines.size());
    for (size_t i = 0; i < lines.size(); ++i) {
      auto object = file::Json::object({{"line", options.first_line + static_cast<int64_t>(i)}, {"source", lines[i]}});
      predict::add_prediction(object, predictions[i],
                              {.token_scores = true,
                               .alignments = form,
                               .nbest = options.nbest > 1,
                               .reverse = static_cast<bool>(options.rerank_reverse)});
      texts.push_back(object.line());
    }
    return texts;
  });
  std::vector<py::str> texts;
  texts.reserve(all.size());
  for (const std::string& text : all) texts.push_back(text_of(text));
  return texts;
}

/// [pairs] -> [pairs]: the fields of heed.PairScore.
py::list score_all(const Loaded& model, const std::vector<std::pair<std::string, std::string>>& pairs, int64_t stride) {
  std::vector<predict::TextPair> texts;
  texts.reserve(pairs.size());
  for (const auto& [source, target] : pairs) texts.push_back({source, target});
  const std::vector<predict::PairScore> scores =
      model.ask([&](const Predictor& predictor) { return predictor.score_all(texts, {.stride = stride}); });
  py::list all;
  for (const predict::PairScore& score : scores) {
    py::dict d;
    d["error"] = py::none();
    if (!score.error.empty()) d["error"] = text_of(score.error);
    d["log_probability"] = score.log_probability;
    d["tokens"] = texts_of(score.tokens);
    d["token_log_probabilities"] = array_of(score.token_log_probabilities);
    all.append(d);
  }
  return all;
}

/// What a model is asked to look at. `target`: bytes, or None.
struct Question {
  std::string line;
  std::optional<std::string> target;
  predict::Options options;

  view::Example answer(const Predictor& predictor) const { return view::look(predictor, line, target, options); }
};

/// What the model attended to: a document as JSON, or the page with it.
py::str look(const Loaded& model, const Question& question, const std::string& folder, bool page) {
  return text_of(model.ask([&](const Predictor& predictor) {
    const view::ModelName name = view::name_of(predictor, folder);
    const view::Document document{
        .title = "What " + name.name + " attends to", .models = {name}, .examples = {question.answer(predictor)}};
    return page ? view::html_text(document) : view::json_of(document, view::Precision::exact).line();
  }));
}

/// One attention of that as SVG. `attention`: empty for what a reader wants first; `head`: from 0, or -1.
py::str draw(const Loaded& model, const Question& question, const std::string& attention, int64_t head) {
  return text_of(model.ask([&](const Predictor& predictor) {
    const view::Example example = question.answer(predictor);
    const view::Map* map = attention.empty() ? nullptr : example.find(attention);
    return view::svg_text(view::drawing_of(example, map, head), view::Colours::own);
  }));
}

/// `checkpoints` gets the name of each that was loaded: what "best" is may change later.
std::shared_ptr<Loaded> load(const std::vector<std::string>& folders, const std::string& checkpoint,
                             const std::string& mean, const std::string& precision, py::list checkpoints) {
  const predict::Mean how = value_of(search::kMeans, mean, "mean");
  std::vector<std::string> names(folders.size());
  const auto loaded = run([&] {
    std::vector<trained::TrainedModel> models;
    for (size_t i = 0; i < folders.size(); ++i)
      trained::with_checkpoint(folders[i], checkpoint, [&](const file::Checkpoint& from) {
        trained::TrainedModel model = trained::load_to_run(from, precision);
        models.resize(i);  // it may be called again
        models.push_back(std::move(model));
        names[i] = from.name();
      });
    return std::make_shared<Loaded>(Predictor(std::move(models), how));
  });
  for (const std::string& name : names) checkpoints.append(name);
  return loaded;
}

}  // namespace

void define_predictor(py::module_& m) {
  m.def("alignment_svg", &alignment_svg, py::arg("found"));
  m.def("matrix_svg", &matrix_svg, py::arg("weights"), py::arg("rows"), py::arg("columns"), py::arg("title"));
  m.def("decoding_options", &list_decoding_options);
  py::class_<Loaded, std::shared_ptr<Loaded>>(m, "Predictor", "A trained model.")
      .def(py::init(&load), py::arg("folders"), py::arg("checkpoint"), py::arg("mean"), py::arg("precision"),
           py::arg("checkpoints"))
      .def("predict", &predict_all, py::arg("lines"), py::arg("options"))
      .def("predict_json", &predict_json, py::arg("lines"), py::arg("options"))
      .def("score", &score_all, py::arg("pairs"), py::arg("stride"))
      .def(
          "look",
          [](const Loaded& p, std::string line, std::optional<std::string> target, const py::dict& options,
             const std::string& folder, bool page) {
            return look(p, {std::move(line), std::move(target), options_of(options)}, folder, page);
          },
          py::arg("line"), py::arg("target"), py::arg("options"), py::arg("folder"), py::arg("page"))
      .def(
          "draw",
          [](const Loaded& p, std::string line, std::optional<std::string> target, const py::dict& options,
             const std::string& attention, int64_t head) {
            return draw(p, {std::move(line), std::move(target), options_of(options)}, attention, head);
          },
          py::arg("line"), py::arg("target"), py::arg("options"), py::arg("attention"), py::arg("head"))
      .def("names", &Loaded::names)
      .def("shape", &Loaded::shape, py::arg("name"))
      .def("weight", &Loaded::weight, py::arg("name"))
      .def("write", &Loaded::write, py::arg("weights"))
      .def("export_to", &Loaded::export_to, py::arg("model"), py::arg("checkpoint"), py::arg("path"),
           py::arg("precision"))
      .def_property_readonly("written", &Loaded::written)
      .def_property_readonly("models", [](const Loaded& p) { return p.predictor().models(); })
      .def_property_readonly("task", [](const Loaded& p) { return p.predictor().model().description.model.task; })
      .def_property_readonly("encoder",
                             [](const Loaded& p) { return p.predictor().model().description.model.encoder_kind(); })
      .def_property_readonly("decoder",
                             [](const Loaded& p) { return p.predictor().model().description.model.decoder_kind(); })
      .def_property_readonly("parameter_count",
                             [](const Loaded& p) { return p.predictor().model().parameters->count(); })
      .def_property_readonly("recipe",
                             [](const Loaded& p) {
                               const trained::TrainedModel& model = p.predictor().model();
                               const bool trained_here = !model.training.recipe.empty();
                               return text_of(trained_here ? recipe::text_of(recipe::of_model(model)) : "");
                             })
      .def_property_readonly("vocabulary_sizes", [](const Loaded& p) {
        return std::make_pair(p.predictor().source().size(), p.predictor().target().size());
      });
}

}  // namespace heed::python
