// heed evaluate: how good outputs are, from a model or from a file.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "cli/about_lines.h"
#include "cli/counter.h"
#include "cli/error_page.h"
#include "cli/errors.h"
#include "cli/evaluation.h"
#include "cli/label_report.h"
#include "cli/options.h"
#include "cli/search_options.h"
#include "cli/terminal.h"
#include "cli/text_evaluation.h"
#include "cli/verbs.h"
#include "heed/base/atomic.h"
#include "heed/base/error.h"
#include "heed/checkpoint/model_file.h"
#include "heed/data/lines.h"
#include "heed/data/pairs.h"
#include "heed/data/plain_files.h"
#include "heed/train/recipe/of_model.h"

namespace heed::cli {

namespace {

using file::Json;

constexpr const char* kShown = "-";  // --errors without a file
constexpr int64_t kMostErrors = 1'000'000'000;

struct EvaluateArguments {
  ModelChoice model;
  std::vector<std::string> files;  // after the model: a source and references, or a TSV
  std::string hypotheses, baseline, save;
  std::string errors;  // kShown, or a file; empty: not requested
  std::string html;    // a page of errors; empty: none
  int64_t most = 0;    // errors to list; 0: all
  std::vector<std::string> references;
  std::string tokenise = "13a";
  EvaluationOptions options;
  SearchChoice search;
  bool valid = false;  // on the validation data of the training run
  bool json = false;
};

metric::Texts lines_of(const std::string& path) {
  metric::Texts lines;
  data::LineReader reader(readable(path));
  for (std::string line; reader.next(line);) lines.push_back(line);
  return lines;
}

/// The references of each line, from files that hold one reference per line.
std::vector<metric::Texts> references_of(const std::vector<std::string>& files, const std::string& of, size_t count) {
  std::vector<metric::Texts> references(count);
  for (const std::string& file : files) {
    const metric::Texts lines = lines_of(file);
    if (lines.size() != count)
      throw Error(ErrorKind::data, fmt::format("'{}' has {} lines, but '{}' has {}", of, count, file, lines.size()));
    for (size_t i = 0; i < count; ++i) references[i].push_back(lines[i]);
  }
  return references;
}

// ---------------------------------------------------------------------------------------------------------- predicting

struct Sources {
  metric::Texts texts;
  std::vector<metric::Texts> references;
  std::vector<int64_t> lines;
};

/// A source that occurs several times is predicted once.
Sources grouped(data::References all) { return {std::move(all.source), std::move(all.targets), std::move(all.line)}; }

Sources sources_of(const EvaluateArguments& c, const recipe::Recipe& like) {
  Sources s;
  if (c.files.size() > 1) {
    s.texts = lines_of(c.files.front());
    s.references = references_of({c.files.begin() + 1, c.files.end()}, c.files.front(), s.texts.size());
    for (size_t i = 0; i < s.texts.size(); ++i) s.lines.push_back(static_cast<int64_t>(i) + 1);
    return s;
  }
  data::Report report;
  data::References all = like.task().read_references(readable(c.files.front()), like.data, report);
  if (const std::string text = report.text(); !text.empty()) warn(c.files.front() + ": " + text);
  return grouped(std::move(all));
}

/// The training files must still be where they were. What was held out is drawn again from the same seed.
Sources validation_of(const recipe::Recipe& recipe) {
  const data::Options& data = recipe.data;
  for (const data::PairFiles* files : {&data.train, &data.valid})
    for (const std::filesystem::path* file : {&files->tsv, &files->source, &files->target})
      if (!file->empty()) readable(file->string());
  data::expect_plain_files(data);
  const std::unique_ptr<task::RawCorpus> texts = recipe.task().read(data, recipe.train.seed);
  if (const std::string report = texts->validation_report(); !report.empty()) warn("validation: " + report);
  return grouped(texts->validation());
}

/// Fills the hypotheses, and for labels their probabilities.
void predict_all(Outputs& outputs, const predict::Predictor& predictor, const Sources& sources,
                 const EvaluateArguments& c) {
  predict::Options options = c.search.options;
  options.alignments = false;
  check(options, predictor);
  Counter counter("lines");
  outputs.labels = predictor.model().task().answers() == task::AnswerKind::label;
  // Many at once, so that batches hold lines of similar length, but few enough that the counter moves.
  const size_t chunk = lines_at_once(c.search) * 8;
  for (size_t begin = 0; begin < sources.texts.size(); begin += chunk) {
    const auto some = std::span(sources.texts).subspan(begin, std::min(chunk, sources.texts.size() - begin));
    const std::vector<predict::Prediction> said =
        about_lines(sources.lines[begin], sources.lines[begin + some.size() - 1],
                    [&] { return predictor.predict_all(some, options); });
    for (const predict::Prediction& p : said) {
      if (!p.error.empty()) {
        counter.erase();
        warn(fmt::format("line {}: {}; its output is empty", sources.lines[outputs.hypotheses.size()], p.error));
      }
      outputs.hypotheses.push_back(p.text());
      if (outputs.labels) outputs.probabilities.push_back(p.nbest.empty() ? 0 : std::exp(p.nbest.front().score));
    }
    counter.add(std::ssize(some));
  }
  counter.erase();
  warn_about_reverse(c.search);
}

// ----------------------------------------------------------------------------------------------------------------- run

/// The first argument is a model, or a file of outputs; then the following ones are the references.
void tell_outputs_from_a_model(EvaluateArguments& c) {
  namespace fs = std::filesystem;
  const std::string first = c.model.folder;
  std::error_code ignored;
  const bool outputs = first == "-" || (fs::exists(first, ignored) && !fs::is_directory(first, ignored) &&
                                        !(fs::is_regular_file(first, ignored) && file::begins_as_safetensors(first)));
  if (!outputs) return;
  if (!c.hypotheses.empty() || !c.references.empty())
    throw Error(fmt::format(
        "evaluate: '{}' is not a model; leave it out, since --hypotheses and --references say what to compare", first));
  if (c.files.empty() && !c.valid)
    throw Error(
        fmt::format("evaluate: '{0}' is not a model, and is the only file: use heed evaluate MODEL {0}, or heed "
                    "evaluate {0} REFERENCE",
                    first));
  c.model.folder.clear();
  c.hypotheses = first;
  c.references = std::move(c.files);
  c.files.clear();
}

void refuse_half_a_question(const EvaluateArguments& c) {
  const bool model = !c.model.folder.empty();
  const bool files = !c.hypotheses.empty() || !c.references.empty();
  if (model && files) throw Error("evaluate: MODEL and --hypotheses cannot be combined");
  if (!model && !files)
    throw Error(
        "evaluate: arguments are needed: heed evaluate MODEL SOURCE REFERENCE, or for existing outputs: heed evaluate "
        "OUTPUT REFERENCE");
  if (!model && c.valid) throw Error("evaluate: --valid needs a MODEL");
  if (!model && !c.model.ensemble.empty()) throw Error("evaluate: --ensemble needs a MODEL");
  std::error_code ignored;
  const std::vector<std::string>& read = model ? c.files : c.references;
  if (c.errors == kShown && !read.empty() && read.back() != "-" && !std::filesystem::exists(read.back(), ignored))
    throw Error(ErrorKind::missing,
                fmt::format("there is no file '{0}'; to write errors to it: --errors={0}", read.back()));
  if (c.most > 0 && c.errors.empty()) throw Error("evaluate: --most needs --errors");
  if (!c.html.empty() && c.errors.empty()) throw Error("evaluate: --html needs --errors");
  if (!c.html.empty() && !model) throw Error("evaluate: --html needs a MODEL, to show what it attends to");
  if (c.valid && !c.files.empty()) throw Error("evaluate: --valid and files cannot be combined");
  if (model && c.files.empty() && !c.valid)
    throw Error("evaluate: SOURCE and REFERENCE are needed, or a TSV, or --valid");
  if (files && c.hypotheses.empty()) throw Error("evaluate: --hypotheses is needed too");
  if (files && c.references.empty()) throw Error("evaluate: --references is needed too");
  if (!model && !c.save.empty()) throw Error("evaluate: --save needs a MODEL");
  if (c.options.randomisation && c.baseline.empty()) throw Error("evaluate: --randomisation needs --compare");
}

constexpr const char* kWithoutValidation = "which says what it is validated on: name a file instead of --valid";

/// Without --metric, a model is judged by the metric of its training run, and by exact match or what is usual for
/// labels. Returns a note that says
/// so.
std::string take_metrics_of(const recipe::Recipe& recipe, bool trained_here, std::vector<std::string>& metrics) {
  const std::string& own = recipe.validate.metric;
  const bool has_own = own != "loss";
  metrics = {has_own ? own : recipe.task().metrics().front()};
  const auto add = [&](const std::string& name) {
    if (metrics.front() != name) metrics.push_back(name);
  };
  if (recipe.task().answers() == task::AnswerKind::label)
    for (const char* name : {"accuracy", "macro_f1", "micro_f1"}) add(name);
  else
    add("exact");
  const char* why = has_own        ? "validate.metric of the model's recipe"
                    : trained_here ? "the first metric of the model's task, since its recipe validates by the loss"
                                   : "the first metric of the model's task";
  return fmt::format("{} is {}; --metric chooses others.", metrics.front(), why);
}

/// A model of running text, or of what it lacks, has no outputs to compare: what it says of a text is how likely it is.
void evaluate_running_text(const EvaluateArguments& c, const predict::Predictor& predictor) {
  const char* wrong = nullptr;
  if (c.files.size() > 1) wrong = "several files";
  if (!c.options.metrics.empty()) wrong = "--metric";
  if (!c.errors.empty()) wrong = c.html.empty() ? "--errors" : "--html";
  if (!c.save.empty()) wrong = "--save";
  if (!c.baseline.empty()) wrong = "--compare";
  if (!c.model.ensemble.empty()) wrong = "--ensemble";
  if (wrong)
    throw Error(
        fmt::format("evaluate: this model {}; it is judged by how well it predicts one, so {} "
                    "cannot be used: heed evaluate MODEL TEXT, or --valid",
                    predictor.model().task().writes() ? "goes on with texts" : "fills in what a text lacks", wrong));
  const int64_t stride = c.search.options.stride;
  if (c.valid && stride > 0)
    throw Error("evaluate: --valid judges as the training did; --stride is for a file: heed evaluate MODEL TEXT");
  if (stride > 0) check({.stride = stride}, predictor);
  if (c.valid) recipe::expect_recipe(predictor.model().training, c.model.folder, kWithoutValidation);
  evaluate_text(predictor, {.file = c.valid ? "" : c.files.front(), .stride = stride}, c.json);
}

/// `note`: what to say about the chosen metrics.
Outputs outputs_of(EvaluateArguments& c, const std::optional<predict::Predictor>& predictor_or_none,
                   std::string& note) {
  Outputs outputs;
  std::string from = c.hypotheses;
  if (c.model.folder.empty()) {
    outputs.hypotheses = lines_of(c.hypotheses);
    outputs.references = references_of(c.references, c.hypotheses, outputs.hypotheses.size());
  } else {
    const predict::Predictor& predictor = *predictor_or_none;
    const trained::TrainedModel& model = predictor.model();
    if (c.valid) recipe::expect_recipe(model.training, c.model.folder, kWithoutValidation);
    const recipe::Recipe recipe = recipe::of_model(model);
    if (c.options.metrics.empty()) note = take_metrics_of(recipe, !model.training.recipe.empty(), c.options.metrics);
    c.options.metric.label_separator = model.task().metric_options(model.description).label_separator;
    Sources sources = c.valid ? validation_of(recipe) : sources_of(c, recipe);
    predict_all(outputs, predictor, sources, c);
    outputs.references = std::move(sources.references);
    outputs.sources = std::move(sources.texts);
    outputs.lines = std::move(sources.lines);
    from = c.valid ? "validation" : c.files.front();
  }
  if (c.options.metrics.empty()) c.options.metrics = {"bleu", "chrf"};
  if (outputs.hypotheses.empty()) throw Error(ErrorKind::data, fmt::format("'{}' has no lines", from));
  if (!c.baseline.empty()) outputs.baseline = lines_of(c.baseline);
  if (outputs.baseline && outputs.baseline->size() != outputs.hypotheses.size())
    throw Error(ErrorKind::data, fmt::format("'{}' has {} lines, but there are {} outputs to compare", c.baseline,
                                             outputs.baseline->size(), outputs.hypotheses.size()));
  return outputs;
}

void save(const metric::Texts& texts, const std::string& path) {
  std::string all;
  for (const std::string& text : texts) all += text + "\n";
  file::write_file(path, all);
}

void run(EvaluateArguments& c) {
  tell_outputs_from_a_model(c);
  refuse_half_a_question(c);
  c.options.metric.bleu.tokenise = metric::tokenisation_of(c.tokenise);
  std::optional<predict::Predictor> predictor;
  if (!c.model.folder.empty()) predictor.emplace(load_predictor(c.model));
  if (predictor && predictor->model().task().reads_running_text()) return evaluate_running_text(c, *predictor);
  if (predictor && predictor->model().task().answers() == task::AnswerKind::vector)
    throw Error(
        "evaluate: this model gives vectors, which have no right answer: heed predict MODEL --vectors FILE.npy, and "
        "compare them");
  if (!c.html.empty()) expect_error_page(*predictor);
  if (predictor) load_reverse(c.search);
  std::string note;
  const Outputs outputs = outputs_of(c, predictor, note);
  if (!c.save.empty()) save(outputs.hypotheses, c.save);
  const std::vector<Evaluated> all = evaluate(outputs, c.options);
  std::optional<Errors> errors;
  if (!c.errors.empty()) errors = errors_of(outputs, c.options, c.most);
  if (errors && c.errors != kShown) write_errors(*errors, c.errors);
  std::string page;
  if (!c.html.empty())
    page = write_error_page({.file = c.html, .model = c.model.folder, .most = c.most}, *errors, outputs, *predictor);
  std::optional<LabelReport> labels;
  if (outputs.labels) labels = label_report(as_compared(outputs, c.options), c.options.metric.label_separator);
  const Terminal terminal;
  if (!c.json) {
    std::string text = evaluation_text(all, note, terminal);
    if (labels) text += label_report_text(*labels, terminal);
    const bool listed = c.errors == kShown && c.html.empty();  // the page is instead of the list
    if (errors) text += "\n" + (listed ? errors_text(*errors, terminal) : errors->count() + "\n");
    if (!page.empty()) text += page + "\n";
    return print(text);
  }
  Json json = evaluation_json(all, outputs.hypotheses.size());
  if (!note.empty()) json["note"] = note;
  if (labels) add_label_report(json, *labels);
  if (errors) {
    json["wrong"] = errors->wrong;
    json["errors"] = errors_json(*errors);
  }
  print(json.text(2) + "\n");
}

constexpr const char* kHelp = R"(Examples:
  heed evaluate model words.tsv
  heed evaluate model words.tsv --errors --most 20
  heed evaluate model words.tsv --errors --html wrong.html
  heed evaluate output.txt reference.txt --metric bleu,chrf,ter
  heed evaluate output.txt first.txt second.txt --confidence
  heed evaluate new.txt reference.txt --compare old.txt
  heed evaluate model test.source test.target --beam 5
  heed evaluate model words.tsv --metric ser,wer,cer
  heed evaluate model --valid --metric ser,per
  heed evaluate language-model text.txt

BLEU, chrF and TER match sacreBLEU, and so do the signature lines with the settings. In a TSV, a source that occurs
several times is predicted once, and each of its targets counts as right; with separate files, every line counts alone.

--errors lists the outputs that equal no reference, those with the most edits per letter first, below the table or in a
file: tab-separated (.tsv), JSON lines (.jsonl), or text. In the output, [-x-] is too much and {+x+} is missing.
With --html they go to one page instead, the worst 100 or --most, each with every attention of the model and the right output.

A model of running text is judged by how well it predicts one: perplexity, e^(-log p / tokens), and bits per character,
-log2 p / characters. Each document (data.documents of its recipe) is read by itself, by a Transformer in windows,
--stride tokens from one to the next.

Metrics, all in percent:
)";

/// The metrics and their definitions, from their own entries.
std::string help() {
  constexpr size_t kName = 12, kText = 104;  // columns
  std::string text = kHelp;
  for (const metric::MetricEntry& entry : metric::all_metrics()) {
    std::string name = entry.name;
    for (const std::string& said : {entry.meaning, "= " + entry.formula})
      for (const std::string& line : wrap(said, kText))
        text += fmt::format("  {:<{}}{}\n", std::exchange(name, ""), kName, line);
  }
  text.pop_back();
  return text;
}

}  // namespace

void add_evaluate(Program& program) {
  auto c = std::make_shared<EvaluateArguments>();
  Verb verb =
      program.verb("evaluate", "Measure how good outputs are, from a model or a file: BLEU, chrF, TER, error rates");
  std::vector<std::string> metrics;
  for (const metric::MetricEntry& entry : metric::all_metrics()) metrics.push_back(entry.name);
  add_model(verb, c->model, /*required=*/false);
  add_ensemble(verb, c->model);
  add_precision(verb, c->model);
  verb.option(
          "FILES", c->files,
          "After MODEL: SOURCE and one or more REFERENCEs, line by line, or one TSV with both; a text, if the model "
          "goes on with texts. After a file of outputs instead of MODEL: its REFERENCEs")
      .value("");
  verb.flag("--valid", c->valid, "After MODEL: use the validation data of its training, from the same files");
  verb.option("--hypotheses", c->hypotheses, "Outputs, one per line; - is standard input").value("FILE");
  verb.option("--references", c->references, "The right outputs; each file holds one per line").value("FILE");
  verb.option("--metric", c->options.metrics,
              fmt::format("Separated by commas: {} (default: the model's metric and exact; for files bleu,chrf)",
                          fmt::join(metrics, ", ")))
      .value("NAMES")
      .repeated(',')
      .one_of("metric", metrics);
  verb.option("--tokenise", c->tokenise, "How BLEU splits texts into tokens: 13a, none, char or intl (default 13a)")
      .value("NAME")
      .one_of("tokenisation", {"13a", "none", "char", "intl"});
  verb.flag("--lowercase", c->options.lowercase, "Ignore case");
  verb.flag("--remove-bpe", c->options.remove_bpe, "Undo BPE: join tokens that end with @@ to the next one");
  verb.flag("--confidence", c->options.confidence, "Show 95 % confidence intervals (bootstrap)");
  verb.option("--compare", c->baseline,
              "Other outputs to compare with, and test if the difference is significant (paired bootstrap)")
      .value("FILE");
  verb.flag("--randomisation", c->options.randomisation, "With --compare: use approximate randomisation");
  add_seed(verb, c->options.seed, "Random seed for --confidence and --compare");
  add_search(verb, c->search);
  add_reranking(verb, c->search);
  verb.flag("--errors", kShown, c->errors,
            "List the wrong lines with the differences marked; --errors=FILE writes them to a file");
  verb.option("--html", c->html,
              "With --errors: write them to one page, the worst first, each with what the model attended to")
      .value("FILE");
  verb.option("--most", c->most, "With --errors: only the N worst (default: all; 100 on the page)")
      .value("N")
      .from_to(int64_t{1}, kMostErrors);
  verb.option("--save", c->save, "Save the outputs of the model, one per line").value("FILE");
  add_json(verb, c->json);
  add_threads(verb);
  verb.footer(help());
  verb.run([c] { run(*c); });
}

}  // namespace heed::cli
