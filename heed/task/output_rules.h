// What outputs must look like: from words to the tokens that a search knows.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "heed/model/search/search.h"
#include "heed/task/predict_options.h"
#include "heed/task/prediction.h"
#include "heed/text/tokeniser.h"

namespace heed::task {

/// The rules of one line.
struct RulesOfLine {
  std::string error = {};                // why they cannot be kept; otherwise empty
  const search::Rules* rules = nullptr;  // null: there are none
  std::vector<std::string> must = {};    // [rules->must] as text
  std::vector<std::string> must_not = {};

  /// Fills in what a hypothesis misses, and why.
  void tell_missing(const search::Hypothesis& hypothesis, Output& output) const;
};

class OutputRules {
 public:
  /// `lines`: how many. Throws if what holds for all of them is impossible: with words that the vocabulary cannot
  /// write, for example. `longest`: of an output, in tokens. All must outlive this.
  OutputRules(const PredictOptions& options, const text::Tokeniser& target, int64_t longest, size_t lines);

  /// The rules stay where they are as long as this lives.
  RulesOfLine of_line(size_t line);

 private:
  using Tokens = std::vector<int32_t>;
  struct LinePhrases {  // as text and as tokens
    std::vector<std::string> must, must_not;
    std::vector<Tokens> must_tokens, must_not_tokens;
    std::string prefix;
    Tokens prefix_tokens;
  };
  LinePhrases read(const LineRules& rules) const;
  Tokens tokens_of(const std::string& phrase, const char* option) const;
  /// What contradicts itself.
  void check(const LinePhrases& said) const;
  search::Rules rules_of(const LinePhrases& said) const;

  const PredictOptions& o_;
  const text::Tokeniser& target_;
  int64_t longest_;
  LinePhrases for_all_;
  std::deque<search::Rules> made_;  // the first: of lines without their own
};

}  // namespace heed::task
