// The bodies of requests -> what is asked. Everything is checked before a model sees it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "heed/predict/json.h"
#include "heed/predict/predictor.h"
#include "heed/serve/limits.h"
#include "heed/serve/members.h"
#include "heed/view/look.h"

namespace heed::serve {

/// POST /v1/predict and /v1/attention
struct Question {
  std::string model = {};
  std::vector<std::string> inputs = {};
  bool several = false;  // "inputs", so that the answer is a list too
  bool stream = false;
  predict::Options options = {};
  predict::JsonOptions shown = {};
  std::string alike = {};  // the same text for questions that one search can answer together; empty: alone
};
Question read_prediction(std::string_view body, const RequestLimits& limits);

/// POST /v1/attention: one input.
struct LookQuestion {
  Question question = {};
  view::Shown shown = {};
  bool has_target = false;
  std::string target = {};
};
LookQuestion read_look(std::string_view body, const RequestLimits& limits);

/// POST /v1/score
struct ScoreQuestion {
  std::string model = {};
  std::vector<predict::TextPair> pairs = {};
  bool several = false;
  predict::ScoreOptions options = {};
  predict::JsonOptions shown = {};
};
ScoreQuestion read_score(std::string_view body, const RequestLimits& limits);

/// Throws if it has more characters than a text may have.
void check_text(std::string_view text, const RequestLimits& limits);

/// POST /v1/completions, as OpenAI's clients send it.
struct CompletionQuestion {
  std::string model = {};
  std::vector<std::string> prompts = {};
  bool stream = false, echo = false, log_probabilities = false;
  int64_t choices = 1;  // of each prompt
  std::vector<std::string> stops = {};
  predict::Options options = {};
};
CompletionQuestion read_completion(std::string_view body, const RequestLimits& limits);

}  // namespace heed::serve
