// The best of many outputs, by more than the model's own probability: by a model of the other direction, or by how much
// an output agrees with all others.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "heed/task/predict_options.h"
#include "heed/task/prediction.h"

namespace heed::task {

bool wants_reranking(const PredictOptions& options);

/// The options of the search for candidates. Throws if the options of reranking are wrong; a message begins with the
/// name of the option.
PredictOptions candidate_options(const PredictOptions& options);

/// Sorts the candidates of each prediction [lines], sets their scores, and keeps the best `nbest`:
///
///   rerank_reverse:  score(y) + rerank_weight * log p(x | y)
///   mbr:  sum_y' w(y') metric(y, y') over all candidates y', equal ones joined.  Of samples, w is how often y'
///   came;
///             otherwise it is p(y' | x) (with rerank_reverse: e^score), made to add up to 1.   Eikema and Aziz 2020;
///             Kumar and Byrne 2004.  Of a metric that is better when lower, the sum counts with a minus sign.
void rerank(std::span<Prediction> predictions, std::span<const std::string> lines, const PredictOptions& options);

}  // namespace heed::task
