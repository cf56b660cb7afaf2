// What happens in a training run, as JSON: one object a line, for programs.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "heed/train/observer.h"

namespace heed::file {
class Json;
}

namespace heed::train {

/// A line for what the data was taken for and what was chosen, the start, every `every`-th update, each validation,
/// checkpoint, warning and skipped update, and the end.
/// Threads: one at a time.
class EventLines : public TrainingObserver {
 public:
  EventLines(int64_t every, std::function<void(const std::string&)> sink);

  void saw(const std::string& what) override;
  void chose(const std::vector<task::Suggestion>& chosen) override;
  void started(const Started& started) override;
  void warned(const std::string& text) override;
  void stepped(const StepReport& report, const Progress& progress) override;
  void skipped(const StepReport& report) override;
  void validated(const Validated& validated, const Progress& progress) override;
  void saved(const std::string& checkpoint, bool is_best) override;
  void finished(const Finished& finished) override;

 private:
  void write(const file::Json& event);

  int64_t every_;
  int64_t step_ = 0;  // of the last update
  std::function<void(const std::string&)> sink_;
};

/// "steps", "epochs", "minutes", "patience", "stopped".
const char* name_of(Ending ending);

}  // namespace heed::train
