// Answers that a model writes, token by token or all at once: from lines through a search to text, and the
// probabilities of given targets. What differs from task to task is how a line is read (TargetReader).
#pragma once

#include <span>
#include <string>
#include <vector>

#include "heed/task/answer.h"
#include "heed/task/line_search.h"
#include "heed/task/search_options.h"

namespace heed::task {

class TargetReader : public LineReader {
 public:
  /// What searches: the models, unless the task has something else made of them.
  virtual LineSearch search(const LoadedModel& asked) const { return LineSearch(asked); }
  /// Where outputs are limited by something else than the models.
  virtual void change(const LoadedModel& /*asked*/, OutputLimits& /*limits*/) const {}
  /// How much is searched together.
  virtual search::BatchLimits batches(const LoadedModel& /*asked*/) const { return {}; }
  /// The rows that a model makes of what is no text in a source: a batch is measured by them, too.
  virtual int64_t cells(const LoadedModel& /*asked*/) const { return 0; }
  /// As data::Examples: of rows of numbers.
  virtual int64_t numbers_of_row(const LoadedModel& /*asked*/) const { return 0; }
  /// Of a model that copies: the words of a line that only its source has, which are tokens behind the vocabulary.
  virtual std::vector<std::string> copied_words(std::string_view /*line*/, const LoadedModel& /*asked*/) const {
    return {};
  }
  /// What the tokens of an output say. `for_unknown`: words in the place of unknown ones, or none.
  virtual std::string text_of(const data::Source& source, std::span<const int32_t> tokens,
                              std::span<const std::string> for_unknown, const text::Tokeniser& target) const;
};

/// [lines] -> [lines]. Task::predict().
std::vector<Prediction> write_answers(const TargetReader& reader, const LoadedModel& asked,
                                      std::span<const std::string> lines, const PredictOptions& options);

/// [pairs] -> [pairs]. Task::score(), for targets that are written from a source.
std::vector<PairScore> score_targets(const TargetReader& reader, const LoadedModel& asked,
                                     std::span<const TextPair> pairs);

}  // namespace heed::task
