// heed evaluate: how good outputs are, of a model or from a file.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <span>

#include "cli/counter.h"
#include "cli/evaluation.h"
#include "cli/options.h"
#include "cli/search_options.h"
#include "cli/verbs.h"
#include "heed/data/lines.h"
#include "heed/data/pairs.h"
#include "heed/file/atomic.h"
#include "heed/tensor/error.h"

namespace heed::cli {

namespace {

struct Chosen {
  ModelChoice model;
  std::vector<std::string> files;  // after the model: a source and references, or a TSV
  std::string hypotheses, baseline, save;
  std::vector<std::string> references;
  std::string tokenise = "13a";
  EvaluationOptions options;
  SearchChoice search;
  bool valid = false;  // on what the training validated on
  bool json = false;
};

metric::Texts lines_of(const std::string& path) {
  metric::Texts lines;
  data::LineReader reader(readable(path));
  for (std::string line; reader.next(line);) lines.push_back(line);
  return lines;
}

/// References of each line, from files with one for each.
std::vector<metric::Texts> references_of(const std::vector<std::string>& files, const std::string& of, size_t count) {
  std::vector<metric::Texts> references(count);
  for (const std::string& file : files) {
    const metric::Texts lines = lines_of(file);
    if (lines.size() != count)
      throw Error(ErrorKind::data, fmt::format("'{}' has {} lines, and '{}' has {}", of, count, file, lines.size()));
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

/// A source that stands there several times is asked once.
Sources grouped(data::References all) { return {std::move(all.source), std::move(all.targets), std::move(all.line)}; }

Sources sources_of(const Chosen& c) {
  Sources s;
  if (c.files.size() > 1) {
    s.texts = lines_of(c.files.front());
    s.references = references_of({c.files.begin() + 1, c.files.end()}, c.files.front(), s.texts.size());
    for (size_t i = 0; i < s.texts.size(); ++i) s.lines.push_back(static_cast<int64_t>(i) + 1);
    return s;
  }
  data::Report report;
  const data::Pairs pairs = data::read_pairs({.tsv = readable(c.files.front())}, report);
  if (report.dropped() > 0) warn(c.files.front() + ": " + report.text());
  return grouped(data::group_references(pairs));
}

/// The files of the training must be where they were. What it held out of them is drawn again from its seed.
Sources validation_of(const recipe::Recipe& recipe) {
  const data::Options& data = recipe.data;
  for (const data::PairFiles* files : {&data.train, &data.valid})
    for (const std::filesystem::path* file : {&files->tsv, &files->source, &files->target})
      if (!file->empty()) readable(file->string());
  const std::unique_ptr<task::Texts> texts = recipe.task().read(data, recipe.train.seed);
  if (const std::string report = texts->validation_report(); !report.empty()) warn("validation: " + report);
  return grouped(texts->validation());
}

metric::Texts predicted(const predict::Predictor& predictor, const Sources& sources, const Chosen& c) {
  predict::Options options = c.search.options;
  options.alignments = false;
  check(options, predictor);
  Counter counter("lines");
  metric::Texts outputs;
  // Many at once, so that the batches are of like lengths, and yet the counter moves.
  const size_t chunk = lines_at_once(c.search) * 8;
  for (size_t begin = 0; begin < sources.texts.size(); begin += chunk) {
    const auto some = std::span(sources.texts).subspan(begin, std::min(chunk, sources.texts.size() - begin));
    for (const predict::Prediction& p : predictor.predict_all(some, options)) {
      if (!p.error.empty()) {
        counter.erase();
        warn(fmt::format("line {}: {}; its output is empty", sources.lines[outputs.size()], p.error));
      }
      outputs.push_back(p.text());
    }
    counter.add(std::ssize(some));
  }
  return outputs;
}

// ----------------------------------------------------------------------------------------------------------------- run

void refuse_half_a_question(const Chosen& c) {
  const bool model = !c.model.folder.empty();
  const bool files = !c.hypotheses.empty() || !c.references.empty();
  if (model && files) throw Error("evaluate: MODEL and --hypotheses do not go together");
  if (!model && !files)
    throw Error(
        "evaluate: what? heed evaluate --hypotheses FILE --references FILE, or heed evaluate MODEL SOURCE "
        "REFERENCE");
  if (!model && c.valid) throw Error("evaluate: --valid needs a MODEL");
  if (c.valid && !c.files.empty()) throw Error("evaluate: --valid stands instead of files");
  if (model && c.files.empty() && !c.valid)
    throw Error("evaluate: SOURCE and REFERENCE are needed, or a TSV, or --valid");
  if (files && c.hypotheses.empty()) throw Error("evaluate: --hypotheses is needed too");
  if (files && c.references.empty()) throw Error("evaluate: --references is needed too");
  if (!model && !c.save.empty()) throw Error("evaluate: --save needs a MODEL");
  if (c.options.randomisation && c.baseline.empty()) throw Error("evaluate: --randomisation needs --compare");
}

Outputs outputs_of(const Chosen& c) {
  Outputs outputs;
  std::string from = c.hypotheses;
  if (c.model.folder.empty()) {
    outputs.hypotheses = lines_of(c.hypotheses);
    outputs.references = references_of(c.references, c.hypotheses, outputs.hypotheses.size());
  } else {
    const predict::Predictor predictor(load_model(c.model));
    Sources sources = c.valid ? validation_of(predictor.model().recipe) : sources_of(c);
    outputs.hypotheses = predicted(predictor, sources, c);
    outputs.references = std::move(sources.references);
    from = c.valid ? "validation" : c.files.front();
  }
  if (outputs.hypotheses.empty()) throw Error(ErrorKind::data, fmt::format("'{}' holds no line", from));
  if (!c.baseline.empty()) outputs.baseline = lines_of(c.baseline);
  if (outputs.baseline && outputs.baseline->size() != outputs.hypotheses.size())
    throw Error(ErrorKind::data, fmt::format("'{}' has {} lines, and there are {} outputs to compare", c.baseline,
                                             outputs.baseline->size(), outputs.hypotheses.size()));
  return outputs;
}

void save(const metric::Texts& texts, const std::string& path) {
  std::string all;
  for (const std::string& text : texts) all += text + "\n";
  file::write_file(path, all);
}

void run(Chosen& c) {
  refuse_half_a_question(c);
  c.options.metric.bleu.tokenise = metric::tokenisation_of(c.tokenise);
  Outputs outputs = outputs_of(c);
  if (!c.save.empty()) save(outputs.hypotheses, c.save);
  const size_t segments = outputs.hypotheses.size();
  const std::vector<Evaluated> all = evaluate(std::move(outputs), c.options);
  print(c.json ? evaluation_json(all, segments) : evaluation_text(all, Terminal()));
}

constexpr const char* kHelp = R"(Examples:
  heed evaluate --hypotheses output.txt --references reference.txt --metric bleu,chrf,ter
  heed evaluate --hypotheses output.txt --references first.txt second.txt --confidence
  heed evaluate --hypotheses new.txt --references reference.txt --compare old.txt
  heed evaluate model test.source test.target --beam 5
  heed evaluate model words.tsv --metric wer,per,cer
  heed evaluate model --valid --metric wer,per

BLEU, chrF and TER are those of sacreBLEU, and so are the lines with the settings in them. With a TSV, a source that
stands there several times is asked once, and all its targets are right; with files, each line stands for itself.)";

}  // namespace

void add_evaluate(Program& program) {
  auto c = std::make_shared<Chosen>();
  Verb verb = program.verb("evaluate", "How good outputs are, from a file or of a model: BLEU, chrF, TER, error rates");
  std::vector<std::string> metrics;
  for (const metric::MetricEntry& entry : metric::all_metrics()) metrics.push_back(entry.name);
  add_model(verb, c->model, /*required=*/false);
  verb.option("FILES", c->files, "After MODEL: SOURCE and one or more REFERENCEs, line by line; or one TSV of both")
      .value("");
  verb.flag("--valid", c->valid, "After MODEL: on what its training validated on or held out, from the same files");
  verb.option("--hypotheses", c->hypotheses, "Outputs, one a line; - is standard input").value("FILE");
  verb.option("--references", c->references, "What they should be; each file has one for each line").value("FILE");
  verb.option("--metric", c->options.metrics, fmt::format("With commas: {}; else bleu,chrf", fmt::join(metrics, ", ")))
      .value("NAMES")
      .repeated(',')
      .one_of("metric", metrics);
  verb.option("--tokenise", c->tokenise, "How BLEU cuts texts: 13a, none, char or intl; else 13a")
      .value("NAME")
      .one_of("tokenisation", {"13a", "none", "char", "intl"});
  verb.flag("--lowercase", c->options.lowercase, "Capital letters do not count");
  verb.flag("--remove-bpe", c->options.remove_bpe, "Join what ends with @@ to what follows it");
  verb.flag("--confidence", c->options.confidence, "Between what 95 % of the scores of such texts lie: bootstrap");
  verb.option("--compare", c->baseline, "Other outputs: is the difference significant? By paired bootstrap")
      .value("FILE");
  verb.flag("--randomisation", c->options.randomisation, "With --compare: by approximate randomisation");
  add_seed(verb, c->options.seed, "For --confidence and --compare");
  add_search(verb, c->search);
  verb.option("--save", c->save, "Keep the outputs of the model, one a line").value("FILE");
  add_json(verb, c->json);
  add_threads(verb);
  verb.footer(kHelp);
  verb.run([c] { run(*c); });
}

}  // namespace heed::cli
