#include "heed/task/image/answers.h"

#include "heed/base/error.h"
#include "heed/data/picture_source.h"
#include "heed/task/image/picture_encoder.h"
#include "heed/task/image/texts.h"
#include "heed/task/line_tokens.h"
#include "heed/task/written_answers.h"

namespace heed::task {

namespace {

int64_t cells_to_a_side(const LoadedModel& asked) {
  return cells_of_side(asked.description.model.picture_size, asked.description.model.picture_layers);
}

class PictureReader final : public TargetReader {
 public:
  ReadLine read(std::string_view line, const LoadedModel& model, Prediction* told) const override {
    ReadLine read;
    read.is_empty = line.empty();
    if (read.is_empty) return read;
    const model::Options& o = model.description.model;
    const LineParts source = parts_of_line(line);
    const text::Tokeniser& words = *model.vocabularies.source;
    read.tokens = words.encode(source.text);
    if (told && o.questions) {
      told->source_tokens = spelled(words, read.tokens);
      told->unknown = unknown_in(source.text, read.tokens, words);
    }
    if (o.questions && read.tokens.empty())
      read.error = "a picture, a tab and a question are expected; there is no question";
    else if (!o.questions && !source.text.empty())
      read.error = "this model takes a picture alone, without a question after a tab";
    else if (const int64_t places = model.model.max_positions(); std::ssize(read.tokens) > places)
      read.error = too_long(std::ssize(read.tokens), places);
    if (!read.error.empty()) return read;
    try {
      read.pixels = data::picture_named(source.picture, {o.picture_size, o.picture_size}).rgb;
      if (told) told->map_rows = told->map_columns = cells_to_a_side(model);
    } catch (const Error& error) {
      read.error = error.what();
    }
    return read;
  }

  search::BatchLimits batches(const LoadedModel& asked) const override {
    constexpr int64_t kAtOnce = 16;  // hypotheses of a batch: enough for the convolutions
    return {.tokens = kAtOnce * cells(asked)};
  }
  int64_t cells(const LoadedModel& asked) const override { return cells_to_a_side(asked) * cells_to_a_side(asked); }
};

}  // namespace

std::vector<Prediction> predict_pictures(const LoadedModel& asked, std::span<const std::string> lines,
                                         const PredictOptions& options) {
  expect(!options.copy_unknown, "copy_unknown copies words of a source text; this model reads pictures");
  return write_answers(PictureReader(), asked, lines, options);
}

std::vector<PairScore> score_pictures(const LoadedModel& asked, std::span<const TextPair> pairs) {
  return score_targets(PictureReader(), asked, pairs);
}

}  // namespace heed::task
