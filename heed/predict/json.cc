#include "heed/predict/json.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

namespace heed::predict {

namespace {

using file::Json;
using task::Output;

/// With the digits of a float: 0.1f is 0.1, not 0.10000000149011612.
double number(float value) { return std::stod(fmt::format("{}", value)); }

Json numbers(const std::vector<float>& values) {
  Json all = Json::array();
  for (const float value : values) all.push_back(number(value));
  return all;
}

Json alignment(const Output& output, AlignmentForm form) {
  Json all = Json::array();
  if (form == AlignmentForm::matrix)
    for (const std::vector<float>& row : output.alignment) all.push_back(numbers(row));
  else
    for (const task::Link& link : output.links()) all.push_back(std::vector{link.source, link.target});
  return all;
}

void add_output(Json& j, const Output& output, const JsonOptions& options) {
  j["output"] = output.text;
  j["score"] = output.score;
  j["log_probability"] = output.log_probability;
  j["finished"] = output.finished;
  j["tokens"] = output.tokens;
  if (!output.missing.empty()) {
    j["missing"] = output.missing;
    j["missing_because"] = output.missing_because;
  }
  if (options.reverse) j["reverse_log_probability"] = output.reverse_log_probability;
  if (options.token_scores) j["token_log_probabilities"] = numbers(output.token_log_probabilities);
  if (options.alignments != AlignmentForm::none) j["alignment"] = alignment(output, options.alignments);
  for (const task::WordTime& each : output.times)
    j["times"].push_back(Json::object({{"word", each.word}, {"start", each.start}, {"end", each.end}}));
}

/// Masked tokens: for each place in the source what may stand there, the likeliest first.
void add_filled(Json& j, const task::Prediction& prediction) {
  for (size_t i = 0; i < prediction.filled.size(); ++i) {
    Json tokens = Json::array();
    for (const Output& output : prediction.nbest)
      tokens.push_back(Json::object({{"token", output.tokens[i]}, {"probability", output.token_probability(i)}}));
    Json place = Json::object({{"place", prediction.filled[i]}});
    place["tokens"] = std::move(tokens);
    j["filled"].push_back(std::move(place));
  }
}

}  // namespace

void add_prediction(Json& j, const task::Prediction& prediction, const JsonOptions& options) {
  if (!prediction.error.empty()) {
    j["output"] = "";
    j["error"] = prediction.error;
    return;
  }
  j["source_tokens"] = prediction.source_tokens;
  j["unknown"] = prediction.unknown;
  if (!prediction.vector.empty()) {
    j["vector"] = numbers(prediction.vector);
    return;
  }
  if (!prediction.filled.empty()) add_filled(j, prediction);
  if (prediction.map_rows > 0) j["map"] = std::vector{prediction.map_rows, prediction.map_columns};
  if (prediction.nbest.empty()) {
    j["output"] = "";
    return;
  }
  add_output(j, prediction.nbest.front(), options);
  const std::vector<float>& sentences = prediction.nbest.front().sentence_weights;
  for (size_t i = 0; options.alignments != AlignmentForm::none && i < sentences.size(); ++i)
    j["sentences"].push_back(
        Json::object({{"tokens", prediction.sentence_tokens[i]}, {"weight", number(sentences[i])}}));
  if (!options.nbest) return;
  for (const Output& output : prediction.nbest) {
    Json one;
    add_output(one, output, options);
    j["outputs"].push_back(std::move(one));
  }
}

void add_score(Json& j, const task::PairScore& score, const JsonOptions& options) {
  if (!score.error.empty()) {
    j["error"] = score.error;
    return;
  }
  j["log_probability"] = score.log_probability;
  j["token_count"] = score.token_log_probabilities.size();
  if (!options.token_scores) return;
  j["tokens"] = score.tokens;
  j["token_log_probabilities"] = score.token_log_probabilities;
}

}  // namespace heed::predict
