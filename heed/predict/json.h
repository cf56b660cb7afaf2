// A prediction as JSON, for `heed predict --json`, Python and servers.
#pragma once

#include <string>

#include "heed/base/json.h"
#include "heed/task/prediction.h"

namespace heed::predict {

enum class AlignmentForm {
  none,
  links,   // [[source, target], ..]: the source token with the most attention
  matrix,  // [tokens][source tokens]: all weights
};

struct JsonOptions {
  bool token_scores = false;  // "token_log_probabilities"
  AlignmentForm alignments = AlignmentForm::none;
  bool nbest = false;    // "outputs": all of them, the best first
  bool reverse = false;  // "reverse_log_probability": with rerank_reverse
};

/// Adds "source_tokens" and "unknown"; "output", "score", "log_probability", "finished" and "tokens" of the best
/// output; "missing" and "missing_because" if phrases that had to come did not; "map", the rows and columns of cells,
/// for pictures; of a vector "vector" alone; "times", the words of a recording with their seconds, where alignments
/// were asked for; and what the options ask for. After an error: "output": "" and "error".
void add_prediction(file::Json& object, const task::Prediction& prediction, const JsonOptions& options);

/// Adds "log_probability" and "token_count", and on request "tokens" and "token_log_probabilities"; or "error".
void add_score(file::Json& object, const task::PairScore& score, const JsonOptions& options);

}  // namespace heed::predict
