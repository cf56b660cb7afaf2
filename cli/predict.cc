// heed predict: lines in, outputs out, in the same order, as they come.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "cli/counter.h"
#include "cli/input_lines.h"
#include "cli/options.h"
#include "cli/search_options.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "heed/file/json.h"
#include "heed/tensor/error.h"

namespace heed::cli {

namespace {

using file::Json;
using predict::Output;
using predict::Prediction;

struct Chosen {
  ModelChoice model;
  SearchChoice search;
  std::string alignments;  // pharaoh, matrix, or empty: none
  bool json = false, scores = false;
};

constexpr const char* kPharaoh = "pharaoh";
constexpr const char* kMatrix = "matrix";

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

// ---------------------------------------------------------------------------------------------------------------- JSON

/// As many digits as a float holds: 0.1f is 0.1, and not 0.10000000149011612.
double short_number(float value) { return std::stod(fmt::format("{}", value)); }

Json numbers(const std::vector<float>& values) {
  Json all = Json::array();
  for (const float value : values) all.push_back(short_number(value));
  return all;
}

Json alignment(const Output& output, const std::string& kind) {
  Json all = Json::array();
  if (kind == kMatrix)
    for (const std::vector<float>& row : output.alignment) all.push_back(numbers(row));
  else
    for (const predict::Link& link : output.links()) all.push_back(std::vector{link.source, link.target});
  return all;
}

void add_output(Json& j, const Output& output, const Chosen& c) {
  j["output"] = output.text;
  j["score"] = output.score;
  j["log_probability"] = output.log_probability;
  j["finished"] = output.finished;
  j["tokens"] = output.tokens;
  if (c.scores) j["token_log_probabilities"] = numbers(output.token_log_probabilities);
  if (!c.alignments.empty()) j["alignment"] = alignment(output, c.alignments);
}

Json json_of(const InputLines::Line& line, const Prediction& prediction, const Chosen& c) {
  Json j;
  j["line"] = line.number;
  j["source"] = line.text;
  if (!prediction.error.empty()) {
    j["output"] = "";
    j["error"] = prediction.error;
    return j;
  }
  j["source_tokens"] = prediction.source_tokens;
  if (prediction.nbest.empty()) {
    j["output"] = "";
    return j;
  }
  add_output(j, prediction.nbest.front(), c);
  if (c.search.options.nbest == 1) return j;
  for (const Output& output : prediction.nbest) {
    Json one;
    add_output(one, output, c);
    j["outputs"].push_back(std::move(one));
  }
  return j;
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

void run(Chosen& c) {
  if (c.alignments == kMatrix && !c.json) throw Error("--alignments=matrix needs --json");
  const predict::Predictor predictor(load_model(c.model));
  c.search.options.alignments = !c.alignments.empty();
  check(c.search.options, predictor);
  InputLines input;
  Counter counter("lines");
  while (true) {
    const std::vector<InputLines::Line> lines = input.next(lines_at_once(c.search));
    if (lines.empty()) return;
    const std::vector<Prediction> predictions = answer(lines, predictor, c.search.options);
    std::string text;
    for (size_t i = 0; i < lines.size(); ++i) {
      if (!predictions[i].error.empty()) {
        counter.erase();
        warn(fmt::format("line {}: {}; it is answered by nothing", lines[i].number, predictions[i].error));
      }
      text += c.json ? json_of(lines[i], predictions[i], c).line() + "\n" : plain(predictions[i], c);
    }
    print(text);
    if (reader_is_gone()) return;
    counter.add(std::ssize(lines));
  }
}

constexpr const char* kHelp = R"(Examples:
  heed predict model < source.txt > output.txt
  heed predict model --beam 5 --length-penalty 0.6 < source.txt
  echo '5 mars 2024' | heed predict model --nbest 3 --scores
  heed predict model --sample --temperature 0.8 --top-p 0.95 --seed 7 < source.txt
  heed predict model --json --alignments=matrix < source.txt

Every line of the input gives one line of the output, in the same order: an empty one for an empty line, and for one that
cannot be answered (invalid UTF-8, too long), which is named on standard error. With --scores, --alignments and --nbest
a line has fields with tabs between them: score, output, alignment, then the same of the next best.
Lines are answered as they come: a program may write one, and read its answer before it writes the next.)";

}  // namespace

void add_predict(Program& program) {
  auto c = std::make_shared<Chosen>();
  Verb verb = program.verb("predict", "Outputs of a trained model for the lines of standard input");
  add_model(verb, c->model);
  add_search(verb, c->search);
  add_nbest_and_sampling(verb, c->search);
  verb.flag("--alignments", kPharaoh, c->alignments,
            "Which source token each token looked at most, as i-j; =matrix with --json: all weights")
      .one_of("kind of alignments", {kPharaoh, kMatrix});
  verb.flag("--scores", c->scores, "The score before each output: log p, divided as --length-penalty says");
  add_json(verb, c->json, "One JSON object a line");
  add_threads(verb);
  verb.footer(kHelp);
  verb.run([c] { run(*c); });
}

}  // namespace heed::cli
