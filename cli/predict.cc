// heed predict: lines in, outputs out, in the same order, as they come.
#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/counter.h"
#include "cli/exit_code.h"
#include "cli/input_lines.h"
#include "cli/options.h"
#include "cli/predictor.h"
#include "cli/search_options.h"
#include "cli/terminal.h"
#include "cli/verbs.h"

namespace heed::cli {

namespace {

using nlohmann::ordered_json;

struct Chosen {
  ModelChoice model;
  SearchChoice search;
  std::string alignments;  // pharaoh, matrix, or empty: none
  bool json = false, scores = false;
};

constexpr const char* kPharaoh = "pharaoh";
constexpr const char* kMatrix = "matrix";

// ---------------------------------------------------------------------------------------------------------------- text

/// score, output, alignment, those that were asked for, with tabs between them; one hypothesis after the other.
std::string plain(const Answer& answer, const Predictor& predictor, const Chosen& c) {
  std::string line;
  for (const search::Hypothesis& h : answer.hypotheses) {
    if (&h != &answer.hypotheses.front()) line += '\t';
    if (c.scores) line += fmt::format("{:.6f}\t", h.score);
    line += predictor.text_of(h);
    if (!c.alignments.empty()) line.append(1, '\t').append(pharaoh(h));
  }
  return line + "\n";
}

// ---------------------------------------------------------------------------------------------------------------- JSON

/// As many digits as a float holds: 0.1f is 0.1, and not 0.10000000149011612.
double short_number(float value) { return std::stod(fmt::format("{}", value)); }

std::vector<std::string> spelled(const Tokeniser& tokeniser, const std::vector<int32_t>& ids) {
  std::vector<std::string> tokens;
  for (const int32_t id : ids) tokens.push_back(tokeniser.token(id));
  return tokens;
}

ordered_json json_of(const search::Hypothesis& h, const Predictor& predictor, const Chosen& c) {
  ordered_json j;
  j["output"] = predictor.text_of(h);
  j["score"] = h.score;
  j["log_probability"] = h.log_probability;
  j["finished"] = h.finished;
  j["tokens"] = spelled(predictor.target(), h.tokens);
  if (c.scores) {
    j["token_log_probabilities"] = ordered_json::array();
    for (const float p : h.token_log_probabilities) j["token_log_probabilities"].push_back(short_number(p));
  }
  if (c.alignments == kPharaoh) j["alignment"] = links_of(h);
  if (c.alignments == kMatrix) {
    j["alignment"] = ordered_json::array();
    for (size_t t = 0; t < std::min(h.tokens.size(), h.alignment.size()); ++t) {
      ordered_json row = ordered_json::array();
      for (const float weight : h.alignment[t]) row.push_back(short_number(weight));
      j["alignment"].push_back(std::move(row));
    }
  }
  return j;
}

ordered_json json_of(const InputLines::Line& line, const Answer& answer, const Predictor& predictor, const Chosen& c) {
  ordered_json j;
  j["line"] = line.number;
  j["source"] = line.text;
  if (!answer.error.empty()) {
    j["output"] = "";
    j["error"] = answer.error;
    return j;
  }
  j["source_tokens"] = spelled(predictor.source(), answer.source);
  if (answer.hypotheses.empty()) {
    j["output"] = "";
    return j;
  }
  j.update(json_of(answer.hypotheses.front(), predictor, c));
  if (c.search.options.nbest == 1) return j;
  for (const search::Hypothesis& h : answer.hypotheses) j["outputs"].push_back(json_of(h, predictor, c));
  return j;
}

// ----------------------------------------------------------------------------------------------------------------- run

std::vector<Question> questions_of(const std::vector<InputLines::Line>& lines) {
  std::vector<Question> questions;
  for (const InputLines::Line& line : lines) questions.push_back({line.text, line.number});
  return questions;
}

void run(const Chosen& c) {
  if (c.alignments == kMatrix && !c.json) throw Failure(kUsage, "--alignments=matrix needs --json");
  const train::TrainedModel trained = load_model(c.model);
  search::Options options = options_of(c.search, trained);
  options.alignment = !c.alignments.empty();
  Predictor predictor(trained, options);
  InputLines input;
  Counter counter("lines");
  while (true) {
    const std::vector<InputLines::Line> lines = input.next(static_cast<size_t>(c.search.batch));
    if (lines.empty()) return;
    std::vector<Answer> answers = predictor.answer(questions_of(lines));
    std::string text;
    for (size_t i = 0; i < lines.size(); ++i) {
      if (lines[i].cut_off) answers[i].error = fmt::format("more than {} bytes: that is no text", InputLines::kLongest);
      if (!answers[i].error.empty()) {
        counter.erase();
        warn(fmt::format("line {}: {}; it is answered by nothing", lines[i].number, answers[i].error));
      }
      text += c.json ? json_of(lines[i], answers[i], predictor, c)
                               .dump(-1, ' ', false, ordered_json::error_handler_t::replace) +
                           "\n"
                     : plain(answers[i], predictor, c);
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

void add_predict(CLI::App& app) {
  auto c = std::make_shared<Chosen>();
  CLI::App* verb =
      app.add_subcommand("predict", "Outputs of a trained model for the lines of standard input")->group("Verbs");
  add_model(*verb, c->model);
  add_search(*verb, c->search);
  add_nbest_and_sampling(*verb, c->search);
  one_of(verb->add_flag(fmt::format("--alignments{{{}}}", kPharaoh), c->alignments,
                        "Which source token each token looked at most, as i-j; =matrix with --json: all weights"),
         "kind of alignments", {kPharaoh, kMatrix});
  verb->add_flag("--scores", c->scores, "The score before each output: log p, divided as --length-penalty says");
  add_json(*verb, c->json, "One JSON object a line");
  add_threads(*verb);
  verb->footer(kHelp);
  verb->callback([c] { run(*c); });
}

}  // namespace heed::cli
