// log.jsonl in the folder of a training run.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "heed/train/event_lines.h"

namespace heed::train {

/// The lines of EventLines, in a file. A run that is resumed after update n drops the lines after it and appends: the
/// file reads as if nothing had happened.
/// Threads: one at a time.
class Log final : public EventLines {
 public:
  Log(std::filesystem::path path, int64_t every);

  void started(const Started& started) override;

 private:
  void write(const std::string& line);

  std::filesystem::path path_;
  std::ofstream file_;
  std::string early_;  // lines from before started()
};

}  // namespace heed::train
