#include "heed/task/speech/answers.h"

#include <fmt/format.h>

#include <utility>

#include "heed/base/error.h"
#include "heed/task/speech/speech_options.h"
#include "heed/task/speech/word_times.h"
#include "heed/task/written_answers.h"

namespace heed::task {

namespace {

const SpeechOptions& options_of(const LoadedModel& asked) { return speech_options(asked.description.model); }

/// What reads the recordings of one of the models.
struct FramesOfModel {
  const model::Model* model = nullptr;
  sound::FrameReader reader;
};

class SpeechReader final : public TargetReader {
 public:
  explicit SpeechReader(const LoadedModel& asked) {
    asked.each_model([&](const LoadedModel& each) {
      readers_.push_back({&each.model, sound::FrameReader(frame_options(options_of(each)))});
    });
  }

  ReadLine read(std::string_view line, const LoadedModel& model, Prediction* told) const override {
    ReadLine read;
    read.is_empty = line.empty();
    if (read.is_empty) return read;
    try {
      read.numbers = reader_of(model).read(line).values;
    } catch (const Error& error) {
      read.error = error.what();
      return read;
    }
    if (!told) return read;
    const SpeechOptions& o = options_of(model);
    const int64_t rows = rows_of_frames(std::ssize(read.numbers) / o.bands, o.convolutions);
    told->row_seconds = seconds_of_row(o);
    for (int64_t row = 0; row < rows; ++row)
      told->source_tokens.push_back(fmt::format("{:.2f}", static_cast<double>(row) * told->row_seconds));
    return read;
  }

  search::BatchLimits batches(const LoadedModel&) const override {
    return {.tokens = 1024};  // rows of the memory: enough for the convolutions
  }
  int64_t numbers_of_row(const LoadedModel& asked) const override {
    return options_of(asked).bands << options_of(asked).convolutions;
  }

 private:
  const sound::FrameReader& reader_of(const LoadedModel& model) const {
    for (const FramesOfModel& each : readers_)
      if (each.model == &model.model) return each.reader;
    throw Error(ErrorKind::bug, "speech: this model was not asked");
  }

  std::vector<FramesOfModel> readers_;
};

}  // namespace

std::vector<Prediction> predict_speech(const LoadedModel& asked, std::span<const std::string> lines,
                                       const PredictOptions& options) {
  expect(!options.copy_unknown, "copy_unknown copies words of a source text; this model reads recordings");
  std::vector<Prediction> answers = write_answers(SpeechReader(asked), asked, lines, options);
  for (Prediction& answer : answers)
    for (Output& output : answer.nbest)
      output.times = word_times(output, answer.row_seconds, *asked.vocabularies.target);
  return answers;
}

std::vector<PairScore> score_speech(const LoadedModel& asked, std::span<const TextPair> pairs) {
  return score_targets(SpeechReader(asked), asked, pairs);
}

}  // namespace heed::task
