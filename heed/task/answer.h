// From lines to answers: the one way for every task. A task says how it reads a line and what answers it; that lines
// are checked, read for every model of an ensemble, kept apart if they are empty or wrong, and tried alone if together
// they fail, is the same for all.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/data/source.h"
#include "heed/task/output_rules.h"
#include "heed/task/prediction.h"
#include "heed/task/task.h"

namespace heed::task {

/// A line as a model reads it.
struct ReadLine {
  std::vector<int32_t> tokens = {}, sentences = {}, second = {};  // as in data::Source
  std::vector<uint8_t> pixels = {};
  std::vector<float> numbers = {};
  std::vector<int32_t> copies = {};
  bool is_empty = false;   // there is nothing to answer
  std::string error = {};  // why it cannot be read; otherwise empty

  data::Source source() const {
    return {.tokens = tokens,
            .sentences = sentences,
            .second = second,
            .pixels = pixels,
            .numbers = numbers,
            .copies = copies};
  }
};

class LineReader {
 public:
  virtual ~LineReader() = default;

  /// The line, which is valid UTF-8 and has no end, as `model` reads it. `told`, where not null, learns of its tokens.
  virtual ReadLine read(std::string_view line, const LoadedModel& model, Prediction* told) const = 0;
};

/// Sources as all models read them; none yet.
data::Sources no_sources(const LoadedModel& asked);

/// A line as each model reads it: not further than to the first that finds it wrong or empty, which is then the last.
std::vector<ReadLine> read_for_all(const LineReader& reader, std::string_view line, const LoadedModel& asked,
                                   Prediction* told);
/// Puts it behind the others.
void add_source(data::Sources& sources, const std::vector<ReadLine>& read);

/// A line that could be read.
struct PendingLine {
  int64_t source = 0;  // its number among the sources
  int64_t number = 0;  // of the line, in the whole input
  std::string_view text = {};
  RulesOfLine rules = {};
  Prediction* answer = nullptr;
};

/// How a task answers lines.
class Answerer : public LineReader {
 public:
  /// The rules for the outputs of line number `line`, from 0.
  virtual RulesOfLine rules_of(size_t /*line*/) { return {}; }
  /// Fills in the outputs of some of the lines. May be called again for those that are tried alone.
  virtual void answer(const data::Sources& sources, std::span<const PendingLine> lines) const = 0;
};

/// [lines] -> [lines], numbered from `first`.
std::vector<Prediction> answer_lines(const LoadedModel& asked, std::span<const std::string> lines, int64_t first,
                                     Answerer& task);

}  // namespace heed::task
