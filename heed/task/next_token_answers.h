// What a model of the next token says: continuations of texts, and the probabilities of texts. What a token sees is the
// same for all of them: model::text_windows().
#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "heed/task/task.h"

namespace heed::task {

/// [texts] -> [texts]: what follows each; a text may be empty, and may have several lines.
std::vector<Prediction> continue_texts(const LoadedModel& asked, std::span<const std::string> texts,
                                       const PredictOptions& options);

/// [pairs] -> [pairs]: the probability of each target after its source, which may be empty. A text ends with its
/// document if lines are documents, or else with its line.
std::vector<PairScore> score_texts(const LoadedModel& asked, std::span<const TextPair> pairs);

/// A whole file, each document by itself.
TextScore score_text_file(const LoadedModel& asked, const std::filesystem::path& file,
                          const std::function<void(int64_t)>& done);

}  // namespace heed::task
