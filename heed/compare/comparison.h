// A whole comparison: every variant of a plan with every seed, one after the other. Prints nothing, but calls an
// observer.
//
//   FOLDER/plan.json   FOLDER/VARIANT/seed-1/ (a training folder, with result.json)   FOLDER/compare.{json,csv,md,html}
#pragma once

#include <atomic>
#include <filesystem>
#include <vector>

#include "heed/compare/plan.h"
#include "heed/compare/table.h"
#include "heed/train/observer.h"

namespace heed::compare {

/// What happens, run by run. The updates of a run come through train::TrainingObserver.
class ComparisonObserver : public train::TrainingObserver {
 public:
  virtual void run_begins(const Variant&, uint64_t /*seed*/, const Table& /*so_far*/) {}
  virtual void run_ended(const Variant&, uint64_t /*seed*/, const Result&, const Table& /*so_far*/) {}
};

struct CompareOptions {
  std::filesystem::path folder;
  bool resume = false;                      // continue the comparison in the folder
  const std::atomic<bool>* stop = nullptr;  // when it becomes true, the current run saves, and the comparison ends
  ComparisonObserver* observer = nullptr;
  std::vector<train::TrainingObserver*> of_runs = {};  // told of the updates of every run too
};

struct Compared {
  Table table;
  bool stopped = false;
};

/// Throws Error if the folder is not empty and `resume` is not set, or belongs to another recipe; if it is in use; and
/// if every run failed. Files are written after each run, so what is done is never lost.
///
/// The first seed of every variant is trained before the second: a comparison that is stopped early still compares.
Compared compare(const Plan& plan, const CompareOptions& options);

}  // namespace heed::compare
