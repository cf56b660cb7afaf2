// From lines of text to outputs. What cannot be answered says why, and the others are answered all the same.
//
// The one place where the verbs meet the search.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "heed/search/search.h"
#include "heed/tensor/tape.h"
#include "heed/train/load_model.h"

namespace heed::cli {

struct Question {
  std::string text;
  int64_t number = 0;  // of the line, from 1: what is drawn for it depends on this
};

struct Answer {
  std::string error;                           // why there is none
  std::vector<int32_t> source;                 // tokens
  std::vector<search::Hypothesis> hypotheses;  // the best first; none for a line without tokens
};

class Predictor {
 public:
  Predictor(const train::TrainedModel& trained, const search::Options& options);

  /// In the order of the questions, which may be many: they are cut into batches.
  std::vector<Answer> answer(std::span<const Question> questions);

  std::string text_of(const search::Hypothesis& hypothesis) const;
  const Tokeniser& source() const { return *trained_.vocabularies.source; }
  const Tokeniser& target() const { return *trained_.vocabularies.target; }

 private:
  std::string read(const Question& question, Answer& answer) const;
  void search(std::span<Answer*> answers, std::span<const int64_t> numbers);

  const train::TrainedModel& trained_;
  search::Options options_;
  Tape tape_;
};

/// Of each token of the output, the source token that it looked at most: "0-0 2-1", source first, both from 0.
std::vector<std::pair<int64_t, int64_t>> links_of(const search::Hypothesis& hypothesis);
std::string pharaoh(const search::Hypothesis& hypothesis);

/// "byte 7 is not valid UTF-8", or nothing.
std::string utf8_complaint(const std::string& text);

}  // namespace heed::cli
