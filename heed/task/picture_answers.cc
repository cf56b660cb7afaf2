#include "heed/task/picture_answers.h"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "heed/data/picture_examples.h"
#include "heed/data/picture_source.h"
#include "heed/model/picture_model.h"
#include "heed/search/batches.h"
#include "heed/task/line_tokens.h"
#include "heed/task/score_examples.h"
#include "heed/task/search_options.h"
#include "heed/task/search_outputs.h"
#include "heed/task/together_or_each.h"
#include "heed/tensor/error.h"
#include "heed/tensor/interrupt.h"
#include "heed/text/utf8.h"

namespace heed::task {

namespace {

const model::PictureModel& picture_model_of(const Answering& asked) {
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
std::string read_source(std::string_view source, const Answering& asked, ReadSource& read, Prediction* prediction) {
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
  } catch (const std::bad_alloc& lack) {
    return memory_text(lack);
  }
  return "";
}

/// A picture to predict: its number among the examples, and of its line.
struct AskedPicture {
  int64_t example = 0, line = 0;
  Prediction* answer = nullptr;
};

void search_pictures(std::span<const AskedPicture> some, const PictureGenerator& generator, const Answering& asked,
                     const search::Options& how) {
  const int64_t side = picture_model_of(asked).cells_of_side(), cells = side * side;
  std::vector<int32_t> ids;
  std::vector<int64_t> offsets = {0}, numbers;
  for (const AskedPicture& each : some) {
    ids.insert(ids.end(), static_cast<size_t>(cells), static_cast<int32_t>(each.example));
    offsets.push_back(std::ssize(ids));
    numbers.push_back(each.line);
    each.answer->nbest.clear();
    each.answer->map_rows = each.answer->map_columns = side;
  }
  constexpr int64_t kAtOnce = 16;  // hypotheses of a batch: enough for the convolutions
  std::vector<search::Result> found = search::search_all(
      generator, asked.tapes, {.ids = ids, .offsets = offsets, .numbers = numbers}, how, {.tokens = kAtOnce * cells});
  for (size_t i = 0; i < some.size(); ++i)
    for (search::Hypothesis& h : found[i].hypotheses)
      some[i].answer->nbest.push_back(output_of(std::move(h), *asked.vocabularies.target));
}

}  // namespace

std::vector<Prediction> predict_pictures(const Answering& asked, std::span<const std::string> lines,
                                         const PredictOptions& options) {
  const model::PictureModel& model = picture_model_of(asked);
  expect(!options.copy_unknown, "copy_unknown copies words of a source text; this model reads pictures");
  const search::Options how =
      search_options(options, {model.max_positions(), asked.longest, model.writer().alignment_heads()});
  std::vector<Prediction> predictions(lines.size());
  data::PictureExamples pictures(model.options().picture_size, model.cells_of_side() * model.cells_of_side());
  std::vector<AskedPicture> there;
  for (size_t i = 0; i < lines.size(); ++i) {
    stop_if_interrupted();
    const std::string_view line = without_end(lines[i]);
    if (line.empty()) continue;
    ReadSource read;
    predictions[i].error = read_source(line, asked, read, &predictions[i]);
    if (!predictions[i].error.empty()) continue;
    there.push_back({pictures.size(), options.first_line + static_cast<int64_t>(i), &predictions[i]});
    pictures.add(read.picture, read.question, {}, there.back().line);
  }
  if (there.empty()) return predictions;
  const PictureGenerator generator(model, pictures);
  together_or_each(
      std::span<const AskedPicture>(there),
      [&](std::span<const AskedPicture> some) { search_pictures(some, generator, asked, how); },
      [](const AskedPicture& each, const std::string& error) { each.answer->error = error; });
  return predictions;
}

std::vector<PairScore> score_pictures(const Answering& asked, std::span<const TextPair> pairs) {
  const model::PictureModel& model = picture_model_of(asked);
  const text::Tokeniser& target = *asked.vocabularies.target;
  std::vector<PairScore> scores(pairs.size());
  data::PictureExamples pictures(model.options().picture_size, model.cells_of_side() * model.cells_of_side());
  std::vector<PairScore*> of_example;
  for (size_t i = 0; i < pairs.size(); ++i) {
    stop_if_interrupted();
    ReadSource read;
    PairScore& score = scores[i];
    score.error = read_source(without_end(pairs[i].source), asked, read, nullptr);
    if (score.error.empty()) score.error = text::utf8_complaint(pairs[i].target);
    if (!score.error.empty()) continue;
    const std::vector<int32_t> answer = target.encode(pairs[i].target);
    if (const int64_t places = model.max_positions(); std::ssize(answer) + 1 > places) {
      score.error = too_long(std::ssize(answer) + 1, places);
      continue;
    }
    pictures.add(read.picture, read.question, answer, static_cast<int64_t>(i) + 1);
    score.tokens = spelled(target, answer);
    score.tokens.push_back(target.token(text::kEnd));
    of_example.push_back(&score);
  }
  score_examples(asked, pictures, of_example);
  return scores;
}

}  // namespace heed::task
