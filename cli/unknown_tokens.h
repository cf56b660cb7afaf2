// Tokens of the input that are not in the model's vocabulary, reported once, at the end.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "heed/predict/predictor.h"

namespace heed::cli {

class UnknownTokens {
 public:
  /// `kind`: of the model's tokens (heed/text/tokeniser.h).
  explicit UnknownTokens(std::string_view kind) : what_(kind.ends_with("words") ? "word" : "character") {}

  void add(const predict::Prediction& prediction);

  /// "3 of 200 lines contain characters the model never saw: ß, Ω (2 more kinds); their outputs are a guess"; empty if
  /// there were none.
  std::string text() const;

 private:
  struct Kind {
    int64_t lines = 0, first = 0;  // that contain it; its position among the kinds, in the order they came
  };
  std::string what_;
  std::map<std::string, Kind> kinds_;
  int64_t lines_ = 0, with_unknown_ = 0;
};

}  // namespace heed::cli
