// The progress of a comparison, for people: on a terminal the table, redrawn in place, with a bar for the current run;
// elsewhere a plain line per run.
#pragma once

#include <chrono>
#include <set>
#include <string>

#include "cli/terminal.h"
#include "heed/compare/comparison.h"

namespace heed::cli {

/// The table, for as many columns as fit into `width`; the least important are left out.
std::string comparison_text(const compare::Table& table, const Terminal& terminal, size_t width);

class ComparisonView final : public compare::ComparisonObserver {
 public:
  explicit ComparisonView(const Terminal& terminal) : terminal_(terminal) {}

  void run_begins(const compare::Variant& variant, uint64_t seed, const compare::Table& so_far) override;
  void run_ended(const compare::Variant& variant, uint64_t seed, const compare::Result& result,
                 const compare::Table& so_far) override;

  void preparing(const std::string& what) override;
  void warned(const std::string& text) override;
  void stepped(const train::StepReport& report, const train::Progress& progress) override;
  void validating(int64_t step) override;

  /// Removes what is redrawn in place: before the last words.
  void erase();

 private:
  using Clock = std::chrono::steady_clock;

  void draw();

  const Terminal& terminal_;
  std::string current_, bar_;  // the run, and how far it is
  std::string table_;          // as drawn
  std::set<std::string> warnings_;
  size_t lines_ = 0;  // on the screen, to be redrawn
  Clock::time_point last_drawn_ = {};
};

}  // namespace heed::cli
