#include "heed/task/vectors/answers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "heed/base/error.h"
#include "heed/base/interrupt.h"
#include "heed/data/batches.h"
#include "heed/task/answer.h"
#include "heed/task/decoding_option.h"
#include "heed/task/line_tokens.h"
#include "heed/task/own_model.h"
#include "heed/task/vectors/texts.h"
#include "heed/task/vectors/vector_model.h"

namespace heed::task {

namespace {

constexpr int64_t kTokensTogether = 2048;  // of a batch

class VectorAnswers final : public Answerer {
 public:
  explicit VectorAnswers(const LoadedModel& asked) : asked_(asked), model_(own_model<VectorModel>(asked.model)) {}

  ReadLine read(std::string_view line, const LoadedModel& model, Prediction* told) const override {
    const text::Tokeniser& tokeniser = *model.vocabularies.source;
    const Description& d = model.description;
    ReadLine read{.tokens = read_tokens(line, tokeniser, d.answers.max_source, d.model.framed)};
    read.is_empty = read.tokens.empty();
    const auto length = std::ssize(read.tokens);
    if (length > model.model.max_positions()) read.error = too_long(length, model.model.max_positions());
    if (!told) return read;
    told->source_tokens = spelled(tokeniser, read.tokens);
    add_unknown(line, tokeniser, told->unknown);
    return read;
  }

  void answer(const data::Sources& sources, std::span<const PendingLine> lines) const override {
    data::Lengths lengths;
    for (const PendingLine& line : lines) lengths.source.push_back(sources.tokens.length(line.source));
    lengths.target = lengths.source;
    search::TapePool::Lease tape(asked_.tapes);
    for (const data::Indices& some :
         data::make_batches(lengths, {.max_tokens = kTokensTogether, .shuffle = false}, 0)) {
      stop_if_interrupted();
      data::Sequences texts;
      for (const int64_t i : some) texts.add(sources.tokens[lines[static_cast<size_t>(i)].source]);
      (*tape).reset();
      const Tensor vectors = model_.vectors(*tape, texts);
      for (size_t i = 0; i < some.size(); ++i) {
        Prediction& answer = *lines[static_cast<size_t>(some[i])].answer;
        const float* row = vectors.row(static_cast<int64_t>(i));
        answer.vector.assign(row, row + vectors.cols());
        for (const float x : answer.vector) expect(std::isfinite(x), "the model gives {} in a vector", x);
        answer.nbest = {Output{.text = fmt::format("[{}]", fmt::join(answer.vector, ",")), .finished = true}};
      }
    }
  }

 private:
  const LoadedModel& asked_;
  const VectorModel& model_;
};

}  // namespace

std::vector<Prediction> vectors_of(const LoadedModel& asked, std::span<const std::string> lines,
                                   const PredictOptions& options) {
  check_values(options);
  check_readers(options, kVectors);
  VectorAnswers task(asked);
  return answer_lines(asked, lines, options.first_line, task);
}

}  // namespace heed::task
