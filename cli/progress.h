// The progress of a training run, for people: a bar on a terminal, plain lines elsewhere.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/terminal.h"
#include "heed/train/observer.h"

namespace heed::cli {

struct ProgressOptions {
  bool samples = true;  // show some outputs at each validation
  bool checkpoints = true;
};

class ProgressView final : public train::TrainingObserver {
 public:
  explicit ProgressView(const Terminal& terminal, ProgressOptions options = {});
  ~ProgressView() override;

  void preparing(const std::string& what) override;
  void chose(const std::vector<task::Suggestion>& chosen) override;
  void started(const train::Started& started) override;
  void warned(const std::string& text) override;
  void stepped(const train::StepReport& report, const train::Progress& progress) override;
  void skipped(const train::StepReport& report) override;
  void validating(int64_t step) override;
  void validated(const train::Validated& validated, const train::Progress& progress) override;
  void saved(const std::string& checkpoint, bool is_best) override;
  void finished(const train::Finished& finished) override;

 private:
  using Clock = std::chrono::steady_clock;

  void show(const std::string& text);
  void say(const std::string& line);  // above the bar
  void draw(const std::string& bar);
  void erase();

  const Terminal& terminal_;
  ProgressOptions options_;
  train::Started started_;
  Clock::time_point last_drawn_, last_line_;
  bool bar_there_ = false;
  bool silent_ = false;  // standard output could not be written
};

/// The bar: as many of its parts as fit into `width` columns.
std::string bar_text(const train::StepReport& report, const train::Progress& progress, const train::Started& started,
                     size_t width);

/// 4:05, 1:02:33
std::string duration_text(double seconds);

/// 1,234,567
std::string grouped(int64_t number);

/// "1 update", "2,000 updates"
std::string counted(int64_t number, const std::string& noun);

}  // namespace heed::cli
