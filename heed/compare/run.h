// One run of a comparison: a training, then everything that is measured on its best checkpoint.
#pragma once

#include <atomic>
#include <optional>
#include <vector>

#include "heed/compare/result.h"
#include "heed/train/observer.h"
#include "heed/train/recipe/recipe.h"

namespace heed::compare {

struct RunOptions {
  const std::atomic<bool>* stop = nullptr;  // when it becomes true, the training saves and ends
  std::vector<train::TrainingObserver*> observers = {};
};

/// Trains in recipe.output.folder, or resumes the training there, measures, and saves the result. A complete run is
/// only loaded. None: it was stopped, and can be resumed.
///
/// A training that cannot go on (values that are not finite, lines that are too long for the mechanism) is a result
/// with an error. Throws if the result cannot be written or something is missing, as that concerns every run.
std::optional<Result> run(const recipe::Recipe& recipe, const RunOptions& options = {});

}  // namespace heed::compare
