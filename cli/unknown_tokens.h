// Tokens of the input that are not in the model's vocabulary, reported once, at the end.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace heed::cli {

class UnknownTokens {
 public:
  /// `kind`: of the model's tokens (heed/text/tokeniser.h). `guessed`: what is a guess, in the singular.
  explicit UnknownTokens(std::string_view kind, std::string guessed = "output")
      : what_(kind.ends_with("words") ? "word" : "character"), guessed_(std::move(guessed)) {}

  /// Of a line: Prediction::unknown, PairScore::unknown.
  void add(std::span<const std::string> unknown);

  /// "3 of 200 lines contain characters the model never saw: ß, Ω (2 more kinds); their outputs are a guess"; empty if
  /// there were none.
  std::string text() const;

 private:
  struct Kind {
    int64_t lines = 0, first = 0;  // that contain it; its position among the kinds, in the order they came
  };
  std::string what_, guessed_;
  std::map<std::string, Kind> kinds_;
  int64_t lines_ = 0, with_unknown_ = 0;
};

}  // namespace heed::cli
