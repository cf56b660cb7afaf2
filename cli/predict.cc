// heed predict: lines in, outputs out, in the same order, as they come.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "cli/counter.h"
#include "cli/input_files.h"
#include "cli/options.h"
#include "cli/search_options.h"
#include "cli/terminal.h"
#include "cli/unknown_tokens.h"
#include "cli/verbs.h"
#include "heed/predict/json.h"
#include "heed/tensor/error.h"
#include "heed/text/tokeniser.h"

namespace heed::cli {

namespace {

using file::Json;
using predict::Output;
using predict::Prediction;

constexpr const char* kPharaoh = "pharaoh";
constexpr const char* kMatrix = "matrix";

struct Chosen {
  ModelChoice model;
  std::vector<std::string> files;  // none: standard input
  SearchChoice search;
  std::string alignments;  // pharaoh, matrix, or empty: none
  bool json = false, scores = false;

  predict::JsonOptions json_options() const {
    using enum predict::AlignmentForm;
    return {.token_scores = scores,
            .alignments = alignments.empty() ? none : (alignments == kMatrix ? matrix : links),
            .nbest = search.options.nbest > 1};
  }
};

// ---------------------------------------------------------------------------------------------------------------- text

/// Where tabs separate fields, those of a text are blanks.
std::string without_tabs(std::string text) {
  std::replace(text.begin(), text.end(), '\t', ' ');
  return text;
}

/// score, output, alignment, those that were asked for, with tabs between them; one output after the other.
std::string plain(const Prediction& prediction, const Chosen& c) {
  std::string line;
  for (const Output& output : prediction.nbest) {
    if (&output != &prediction.nbest.front()) line += '\t';
    if (c.scores) line += fmt::format("{:.6f}\t", output.score);
    line += c.scores || !c.alignments.empty() || prediction.nbest.size() > 1 ? without_tabs(output.text) : output.text;
    if (!c.alignments.empty()) line.append(1, '\t').append(predict::pharaoh(output));
  }
  return line + "\n";
}

// ----------------------------------------------------------------------------------------------------------------- run

std::vector<Prediction> answer(const std::vector<InputLines::Line>& lines, const predict::Predictor& predictor,
                               predict::Options options) {
  std::vector<std::string> texts;
  texts.reserve(lines.size());
  for (const InputLines::Line& line : lines) texts.push_back(line.text);
  options.first_line = lines.front().number;
  std::vector<Prediction> predictions = predictor.predict_all(texts, options);
  for (size_t i = 0; i < lines.size(); ++i)
    if (lines[i].cut_off)
      predictions[i].error = fmt::format("more than {} bytes: that is no text", InputLines::kLongest);
  return predictions;
}

std::string json_line(const InputLines::Line& line, const Prediction& prediction, const Chosen& c) {
  Json j = Json::object({{"line", line.number}, {"source", line.text}});
  predict::add_prediction(j, prediction, c.json_options());
  return j.line() + "\n";
}

void run(Chosen& c) {
  if (c.alignments == kMatrix && !c.json) throw Error("--alignments=matrix needs --json");
  InputFiles input(c.files);
  const predict::Predictor predictor(load_model(c.model));
  c.search.options.alignments = !c.alignments.empty();
  check(c.search.options, predictor);
  Counter counter("lines");
  UnknownTokens unknown(predictor.source().kind());
  while (true) {
    const std::vector<InputLines::Line> lines = input.next(lines_at_once(c.search));
    if (lines.empty()) break;
    const std::vector<Prediction> predictions = answer(lines, predictor, c.search.options);
    std::string text;
    for (size_t i = 0; i < lines.size(); ++i) {
      if (!predictions[i].error.empty()) {
        counter.erase();
        warn(fmt::format("line {}: {}; it is answered by nothing", lines[i].number, predictions[i].error));
      }
      unknown.add(predictions[i]);
      text += c.json ? json_line(lines[i], predictions[i], c) : plain(predictions[i], c);
    }
    print(text);
    if (reader_is_gone()) return;
    counter.add(std::ssize(lines));
  }
  counter.erase();
  if (const std::string said = unknown.text(); !said.empty()) warn(said);
}

constexpr const char* kHelp = R"(Examples:
  heed predict model < source.txt > output.txt
  heed predict model first.txt second.txt.gz > output.txt
  heed predict model --beam 5 --length-penalty 0.6 < source.txt
  echo '5 mars 2024' | heed predict model --nbest 3 --scores
  heed predict model --sample --temperature 0.8 --top-p 0.95 --seed 7 < source.txt
  heed predict model --json --alignments=matrix < source.txt

Every line of the input gives one line of the output, in the same order: an empty one for an empty line, and for one that
cannot be answered (invalid UTF-8, too long), which is named on standard error. With --scores, --alignments and --nbest
a line has fields with tabs between them: score, output, alignment, then the same of the next best.
Where lines hold characters or words that are not in the model's vocabulary, standard error says so at the end; what the
model writes for them is a guess, and what it cannot write is ⁇. --copy-unknown copies the source token in place of ⁇.
Lines are answered as they come: a program may write one, and read its answer before it writes the next.)";

}  // namespace

void add_predict(Program& program) {
  auto c = std::make_shared<Chosen>();
  Verb verb = program.verb("predict", "Outputs of a trained model for lines of text");
  add_model(verb, c->model);
  verb.option("FILES", c->files,
              "Texts to read, plain or gzip, one after the other; - is standard input, and so is none")
      .value("");
  add_search(verb, c->search);
  add_nbest_and_sampling(verb, c->search);
  verb.flag("--alignments", kPharaoh, c->alignments,
            "Which source token each token looked at most, as i-j; =matrix with --json: all weights")
      .one_of("kind of alignments", {kPharaoh, kMatrix});
  verb.option("--layer", c->search.options.layer, "Alignments of this layer of the decoder, from 1; else the last")
      .value("N")
      .from_to(int64_t{1}, task::kMostLayers);
  verb.option("--head", c->search.options.head, "Alignments of this head of it, from 1; else the mean of all")
      .value("N")
      .from_to(int64_t{1}, task::kMostHeadsOfALayer);
  verb.flag("--copy-unknown", c->search.options.copy_unknown,
            "In place of ⁇, the sign for an unknown token, the source token that it looked at most");
  verb.flag("--scores", c->scores, "The score before each output: log p, divided as --length-penalty says");
  add_json(verb, c->json, "One JSON object a line");
  add_threads(verb);
  verb.footer(kHelp);
  verb.run([c] { run(*c); });
}

}  // namespace heed::cli
