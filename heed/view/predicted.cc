#include "heed/view/predicted.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "heed/base/error.h"
#include "heed/checkpoint/trained_model.h"
#include "heed/data/picture.h"
#include "heed/data/picture_source.h"
#include "heed/data/sound_source.h"
#include "heed/sound/named_frames.h"
#include "heed/task/image/texts.h"
#include "heed/task/speech/speech_options.h"

namespace heed::view {

namespace {

/// An alignment has the weight of a word in its text; here it is that in its sentence.
std::vector<Sentence> sentences_of(const predict::Prediction& prediction) {
  const predict::Output& output = prediction.nbest.front();
  std::vector<Sentence> all;
  size_t at = 0;
  for (size_t s = 0; s < output.sentence_weights.size(); ++s) {
    Sentence sentence{.weight = output.sentence_weights[s]};
    for (int64_t i = 0; i < prediction.sentence_tokens[s]; ++i, ++at) {
      const float weight = output.alignment.front()[at];
      sentence.words.push_back({prediction.source_tokens[at], sentence.weight > 0 ? weight / sentence.weight : 0.0f});
    }
    all.push_back(std::move(sentence));
  }
  return all;
}

}  // namespace

Sequence alignment_rows(const predict::Predictor& model, const predict::Prediction& prediction) {
  const predict::Output& output = prediction.nbest.front();
  if (model.model().task().answers() != task::AnswerKind::label) {
    Sequence target{"target", "output", output.tokens};
    target.tokens.resize(output.alignment.size());
    return target;
  }
  if (!output.sentence_weights.empty()) return {"target", "label", {output.text}};
  if (model.model().description.model.two_texts) return {"second", "second text", prediction.second_tokens};
  Sequence pooled{"pooled", "pooled vector", {}};
  for (size_t i = 0; i < output.alignment.size(); ++i) pooled.tokens.push_back(std::to_string(i + 1));
  return pooled;
}

Example example_of(const predict::Predictor& model, const std::string& line, const predict::Prediction& prediction) {
  const bool answered = !prediction.nbest.empty();
  Example example = example_of(line, prediction, answered ? alignment_rows(model, prediction) : Sequence{"", "", {}});
  if (prediction.row_seconds > 0) example.recording = seen_recording(model, line, prediction);
  return example;
}

Example example_of(const std::string& line, const predict::Prediction& prediction, Sequence rows) {
  expect(prediction.error.empty(), ErrorKind::data, "{}", prediction.error);
  expect(!prediction.nbest.empty(), ErrorKind::data, "there is no output to draw");
  const predict::Output& output = prediction.nbest.front();
  expect(!output.alignment.empty(), ErrorKind::data, "the output has no alignment to draw");
  Example example{
      .input = shown_input(line, prediction), .output = output.text, .log_probability = output.log_probability};
  const bool cells = prediction.map_rows > 0;
  example.sequences = {std::move(rows), cells ? Sequence{"cells", "cells of the picture", cell_names(prediction)}
                                              : Sequence{"source", "input", prediction.source_tokens}};
  Map map{.name = "alignment",
          .label = "alignment",
          .group = "alignment",
          .queries = example.sequences[0].name,
          .keys = example.sequences[1].name,
          .heads = 1,
          .rows = std::ssize(output.alignment),
          .columns = std::ssize(example.sequences[1].tokens)};
  for (const std::vector<float>& row : output.alignment) {
    expect(std::ssize(row) == map.columns, ErrorKind::bug, "view: {} weights for {} tokens", row.size(), map.columns);
    map.weights.insert(map.weights.end(), row.begin(), row.end());
  }
  example.maps.push_back(std::move(map));
  example.sentences = output.sentence_weights.empty() ? whole_text(example) : sentences_of(prediction);
  if (cells) example.picture = seen_picture(line, prediction);
  return example;
}

std::string shown_input(const std::string& line, const predict::Prediction& prediction) {
  if (prediction.row_seconds > 0) return data::sound_label(line);
  if (prediction.map_rows == 0) return line;
  const task::LineParts parts = task::parts_of_line(line);
  const std::string picture = data::picture_label(parts.picture);
  return parts.text.empty() ? picture : fmt::format("{}\t{}", picture, parts.text);
}

std::vector<Sentence> whole_text(const Example& example) {
  const Map* map = example.main_map();
  if (!map || map->queries != "pooled" || map->keys != "source") return {};
  const std::vector<std::string>& words = example.sequence("source").tokens;
  const std::vector<float> weights = map->mean_row(-1);
  Sentence sentence{.weight = 1.0f};
  for (size_t i = 0; i < words.size(); ++i) sentence.words.push_back({words[i], weights[i]});
  return {std::move(sentence)};
}

SeenPicture seen_picture(const std::string& line, const predict::Prediction& prediction) {
  constexpr int64_t kSide = 512;  // pixels: enough to see what is in a cell
  const std::string_view name = task::parts_of_line(line).picture;
  data::PictureSize size = data::size_of_named(name);
  const int64_t side = std::max(size.height, size.width);
  if (side > kSide)
    size = {std::max<int64_t>(1, size.height * kSide / side), std::max<int64_t>(1, size.width * kSide / side)};
  return {.png = data::png_of(data::picture_named(name, size)),
          .rows = prediction.map_rows,
          .columns = prediction.map_columns,
          .height = size.height,
          .width = size.width};
}

SeenRecording seen_recording(const predict::Predictor& model, const std::string& line,
                             const predict::Prediction& prediction) {
  const task::SpeechOptions& speech = task::speech_options(model.model().description.model);
  sound::FrameOptions options = task::frame_options(speech);
  options.normalise = sound::Normalise::none;
  const sound::Frames frames = sound::FrameReader(options).read(line);
  const auto [least, most] = std::minmax_element(frames.values.begin(), frames.values.end());
  const float range = std::max(*most - *least, 1e-6f);
  const int64_t rows = std::ssize(prediction.source_tokens);
  data::Picture picture(frames.columns, std::max(frames.rows, rows << speech.convolutions), 255);  // loud is dark
  for (int64_t t = 0; t < frames.rows; ++t)
    for (int64_t b = 0; b < frames.columns; ++b) {
      const float loud = (frames.values[static_cast<size_t>(t * frames.columns + b)] - *least) / range;
      const auto grey = static_cast<uint8_t>(255.0f * (1.0f - loud));
      std::fill_n(picture.pixel(frames.columns - 1 - b, t), 3, grey);
    }
  constexpr int64_t kWidest = 2000;  // pixels: a long recording needs no more
  if (picture.width > kWidest) picture = data::scaled(picture, {picture.height, kWidest});
  return {.png = data::png_of(picture), .seconds = static_cast<double>(rows) * prediction.row_seconds};
}

std::vector<std::string> cell_names(const predict::Prediction& prediction) {
  std::vector<std::string> all;
  for (int64_t r = 0; r < prediction.map_rows; ++r)
    for (int64_t c = 0; c < prediction.map_columns; ++c) all.push_back(fmt::format("{},{}", r + 1, c + 1));
  return all;
}

}  // namespace heed::view
