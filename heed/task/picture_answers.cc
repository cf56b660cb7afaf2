#include "heed/task/picture_answers.h"

#include <fmt/format.h>

#include <deque>
#include <memory>
#include <utility>

#include "heed/data/picture_examples.h"
#include "heed/data/picture_source.h"
#include "heed/model/picture_model.h"
#include "heed/task/line_tokens.h"
#include "heed/task/score_examples.h"
#include "heed/task/search_lines.h"
#include "heed/task/search_options.h"
#include "heed/task/search_outputs.h"
#include "heed/task/text_teller.h"
#include "heed/task/together_or_each.h"
#include "heed/tensor/error.h"
#include "heed/tensor/interrupt.h"
#include "heed/text/utf8.h"

namespace heed::task {

namespace {

const model::PictureModel& picture_model_of(const LoadedModel& asked) {
  const auto* model = dynamic_cast<const model::PictureModel*>(&asked.model);
  expect(model != nullptr, ErrorKind::bug, "this model reads no pictures");
  return *model;
}

/// What a search sees of pictures: the source of picture i is its number, once for each of its cells. So a source is as
/// long as the memory that it becomes, and alignments are those of the cells.
class PictureGenerator final : public model::Generator {
 public:
  PictureGenerator(const model::PictureModel& model, const data::PictureExamples& pictures)
      : model_(model), pictures_(pictures) {}

  std::unique_ptr<decode::State> start(Tape& tape, const model::PackedIds& sources, int64_t longest) const override {
    std::vector<int64_t> numbers;
    for (size_t b = 0; b + 1 < sources.offsets.size(); ++b)
      numbers.push_back(sources.ids[static_cast<size_t>(sources.offsets[b])]);
    const std::unique_ptr<data::PackedBatch> batch = pictures_.pack(numbers);
    auto state = model_.start(tape, static_cast<const data::PackedPictures&>(*batch), longest);
    tape.reset();  // nothing on it may outlive the pixels; the state is outside
    return state;
  }
  Tensor step(std::span<const int32_t> tokens, decode::State& state, Tape& tape,
              decode::Alignment* alignment) const override {
    return model_.writer().step(tokens, state, tape, alignment);
  }
  std::vector<int64_t> alignment_heads() const override { return model_.writer().alignment_heads(); }
  int64_t cells() const { return model_.cells_of_side() * model_.cells_of_side(); }

 private:
  const model::PictureModel& model_;
  const data::PictureExamples& pictures_;
};

/// A source that could be read.
struct ReadSource {
  data::Picture picture;
  std::vector<int32_t> question;
};

/// What is wrong with the source; empty: nothing. `prediction`, where not null, learns of the question's tokens.
std::string read_source(std::string_view source, const LoadedModel& asked, ReadSource& read, Prediction* prediction) {
  if (std::string wrong = text::utf8_complaint(source); !wrong.empty()) return wrong;
  const model::Options& o = picture_model_of(asked).options();
  const auto [name, question] = data::cut_picture_question(source);
  const text::Tokeniser& words = *asked.vocabularies.source;
  read.question = words.encode(question);
  if (prediction && o.questions) {
    prediction->source_tokens = spelled(words, read.question);
    prediction->unknown = unknown_in(question, read.question, words);
  }
  if (o.questions && read.question.empty()) return "a picture, a tab and a question are expected; there is no question";
  if (!o.questions && !question.empty()) return "this model takes a picture alone, without a question after a tab";
  if (const int64_t places = asked.model.max_positions(); std::ssize(read.question) > places)
    return too_long(std::ssize(read.question), places);
  try {
    read.picture = data::picture_named(name, {o.picture_size, o.picture_size});
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

struct PictureLine {
  std::string_view source;
  int64_t number = 0;
  std::span<const int32_t> answer = {};  // of those that are scored
};

/// The pictures that were read, as each model of an ensemble sees them.
class ReadPictures {
 public:
  explicit ReadPictures(const LoadedModel& asked) {
    asked.each_model([&](const LoadedModel& each) {
      const model::PictureModel& model = picture_model_of(each);
      pictures_.emplace_back(model.options().picture_size, model.cells_of_side() * model.cells_of_side());
      generators_.emplace_back(model, pictures_.back());
    });
  }
  /// Reads a source for all models, and keeps it; what is wrong with it, or nothing.
  std::string add(const PictureLine& line, const LoadedModel& asked, Prediction* prediction) {
    std::vector<ReadSource> read;
    std::string wrong;
    asked.each_model([&](const LoadedModel& each) {
      if (!wrong.empty()) return;
      Prediction* learns = read.empty() ? prediction : nullptr;  // of what the first model reads
      wrong = read_source(line.source, each, read.emplace_back(), learns);
    });
    for (size_t m = 0; wrong.empty() && m < read.size(); ++m)
      pictures_[m].add(read[m].picture, read[m].question, line.answer, line.number);
    return wrong;
  }
  int64_t size() const { return pictures_[0].size(); }
  const data::PictureExamples& of_first() const { return pictures_[0]; }
  Generators generators() const {
    Generators all;
    for (const PictureGenerator& each : generators_) all.push_back(&each);
    return all;
  }
  /// The sources of picture number `example`, for each model.
  std::vector<std::vector<int32_t>> sources(int64_t example) const {
    std::vector<std::vector<int32_t>> all;
    for (const PictureGenerator& each : generators_)
      all.emplace_back(static_cast<size_t>(each.cells()), static_cast<int32_t>(example));
    return all;
  }

 private:
  std::deque<data::PictureExamples> pictures_;  // [models]; pointed to
  std::deque<PictureGenerator> generators_;
};

/// A picture to predict.
struct AskedPicture {
  SearchLine asked;
  Prediction* answer = nullptr;
};

void search_pictures(std::span<const AskedPicture> some, const Generators& generators, const LoadedModel& asked,
                     const search::Options& how) {
  const int64_t side = picture_model_of(asked).cells_of_side();
  std::vector<SearchLine> lines;
  for (const AskedPicture& each : some) {
    lines.push_back(each.asked);
    each.answer->nbest.clear();
    each.answer->map_rows = each.answer->map_columns = side;
  }
  constexpr int64_t kAtOnce = 16;  // hypotheses of a batch: enough for the convolutions
  std::vector<search::Result> found = search_lines(generators, asked, lines, how, {.tokens = kAtOnce * side * side});
  for (size_t i = 0; i < some.size(); ++i)
    for (search::Hypothesis& h : found[i].hypotheses)
      some[i].answer->nbest.push_back(output_of(std::move(h), *asked.vocabularies.target, lines[i].rules));
}

}  // namespace

std::vector<Prediction> predict_pictures(const LoadedModel& asked, std::span<const std::string> lines,
                                         const PredictOptions& options) {
  expect(!options.copy_unknown, "copy_unknown copies words of a source text; this model reads pictures");
  ReadPictures pictures(asked);
  search::Options how = search_options(
      options, {asked.max_positions(), asked.description.answers.longest, alignment_heads(pictures.generators())},
      *asked.vocabularies.target);
  how.on_token = text_teller(options, *asked.vocabularies.target);
  OutputRules rules(options, *asked.vocabularies.target, how.longest, lines.size());
  std::vector<Prediction> predictions(lines.size());
  std::vector<AskedPicture> there;
  for (size_t i = 0; i < lines.size(); ++i) {
    stop_if_interrupted();
    const std::string_view line = without_end(lines[i]);
    if (line.empty()) continue;
    RulesOfLine of_line = rules.of_line(i);
    const int64_t number = options.first_line + static_cast<int64_t>(i);
    predictions[i].error = pictures.add({line, number}, asked, &predictions[i]);
    if (predictions[i].error.empty()) predictions[i].error = of_line.error;
    if (!predictions[i].error.empty()) continue;
    there.push_back({{pictures.sources(pictures.size() - 1), number, std::move(of_line)}, &predictions[i]});
  }
  if (there.empty()) return predictions;
  const Generators generators = pictures.generators();
  together_or_each(
      std::span<const AskedPicture>(there),
      [&](std::span<const AskedPicture> some) { search_pictures(some, generators, asked, how); },
      [](const AskedPicture& each, const std::string& error) { each.answer->error = error; });
  return predictions;
}

std::vector<PairScore> score_pictures(const LoadedModel& asked, std::span<const TextPair> pairs) {
  const text::Tokeniser& target = *asked.vocabularies.target;
  std::vector<PairScore> scores(pairs.size());
  ReadPictures pictures(asked);
  std::vector<SearchLine> lines;  // of an ensemble
  std::vector<std::vector<int32_t>> targets;
  std::vector<PairScore*> of_example;
  for (size_t i = 0; i < pairs.size(); ++i) {
    stop_if_interrupted();
    PairScore& score = scores[i];
    score.error = text::utf8_complaint(pairs[i].target);
    if (!score.error.empty()) continue;
    std::vector<int32_t> answer = target_tokens(pairs[i], target);
    if (const int64_t places = asked.max_positions(); std::ssize(answer) + 1 > places)
      score.error = too_long(std::ssize(answer) + 1, places);
    const PictureLine line{without_end(pairs[i].source), static_cast<int64_t>(i) + 1, answer};
    if (score.error.empty()) score.error = pictures.add(line, asked, nullptr);
    if (!score.error.empty()) continue;
    if (pairs[i].target_ids.empty()) add_unknown(pairs[i].target, target, score.unknown);
    score.tokens = spelled(target, answer);
    score.tokens.push_back(target.token(text::kEnd));
    of_example.push_back(&score);
    lines.push_back({.sources = pictures.sources(pictures.size() - 1)});
    answer.push_back(text::kEnd);
    targets.push_back(std::move(answer));
  }
  if (asked.others.empty())
    score_examples(asked, pictures.of_first(), of_example);
  else
    score_lines(pictures.generators(), asked, lines, targets, of_example);
  return scores;
}

}  // namespace heed::task
