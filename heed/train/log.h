// log.jsonl: what happened, one JSON object per line, for programs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "heed/train/observer.h"

namespace heed::train {

/// A line for the start, every `every`-th update, each validation, checkpoint, warning and skipped update, and the end.
/// A run that resumes from update n drops the lines after it and appends: the file reads as if nothing had happened.
/// Threads: one at a time.
class Log final : public TrainingObserver {
 public:
  Log(std::filesystem::path path, int64_t every);

  void started(const Started& started) override;
  void warned(const std::string& text) override;
  void stepped(const StepReport& report, const Progress& progress) override;
  void skipped(const StepReport& report) override;
  void validated(const Validated& validated, const Progress& progress) override;
  void saved(const std::string& checkpoint, bool is_best) override;
  void finished(const Finished& finished) override;

 private:
  void write(const std::string& line);

  std::filesystem::path path_;
  int64_t every_;
  int64_t step_ = 0;  // of the last update
  std::ofstream file_;
  std::string early_;  // lines from before started()
};

/// "steps", "epochs", "minutes", "patience", "stopped".
const char* name_of(Ending ending);

}  // namespace heed::train
