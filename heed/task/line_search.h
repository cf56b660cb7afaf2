// The search for lines of any task, with one model or with an ensemble; and what they say about given targets.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "heed/model/search/batches.h"
#include "heed/model/search/ensemble.h"
#include "heed/task/answer.h"
#include "heed/task/task.h"

namespace heed::task {

/// [models] What a search uses of each; of most tasks it is the model itself. Throws if one writes nothing step by
/// step.
using Generators = std::vector<const model::Generator*>;
Generators generators_of(const LoadedModel& asked);

class LineSearch {
 public:
  /// By the models, which may write all positions at once. They must outlive this.
  explicit LineSearch(const LoadedModel& asked);
  /// By these instead of the models.
  LineSearch(const LoadedModel& asked, Generators generators);

  /// Of each layer that alignments can show, its heads: those of an ensemble have one, the mean.
  std::vector<int64_t> alignment_heads() const;
  /// Null: it writes step by step.
  const model::ParallelGenerator* parallel() const { return parallel_; }

  /// [lines] -> [lines]
  std::vector<search::Result> search(const data::Sources& sources, std::span<const PendingLine> lines,
                                     const search::Options& options, const search::BatchLimits& limits) const;

  /// The probabilities of given targets [sources], tokens with the end; step by step. Each is stored in its PairScore,
  /// or why not.
  void score(const data::Sources& sources, std::span<const std::vector<int32_t>> targets,
             std::span<PairScore* const> scores) const;

 private:
  const model::Generator& generator() const;
  std::vector<search::Result> search_once(const data::Sources& sources, std::span<const PendingLine> lines,
                                          const search::Options& options, const search::BatchLimits& limits) const;

  const LoadedModel& asked_;
  Generators generators_;
  const model::ParallelGenerator* parallel_ = nullptr;
  std::optional<search::Ensemble> ensemble_;
};

}  // namespace heed::task
