// The folder of a training run, with the checkpoints that were kept.
//
//   step-000100/  step-000200/  best.txt (the name of the best one)  .lock (locked by the training that writes here)
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/disk.h"
#include "heed/checkpoint/checkpoint.h"

namespace heed::file {

/// An unusable checkpoint.
struct Damage {
  std::string name;
  std::string reason;
};

class RunFolder {
 public:
  explicit RunFolder(std::filesystem::path folder) : folder_(std::move(folder)) {}

  const std::filesystem::path& folder() const { return folder_; }
  static std::string name_of(int64_t step);  // "step-000100"

  /// The right to write here until the descriptor is closed, also by kill -9; creates the folder if missing. Throws if
  /// another process, or another training run in this one, has it. On a file system without locks nobody gets one, and
  /// everybody may write.
  Descriptor lock() const;
  /// Removes all checkpoints and the mark of the best one, and nothing else, under the lock.
  void clear();

  /// Writes the checkpoint of `step` and returns its name. Creates the folder if missing; removes what interrupted
  /// writers left in it. A damaged checkpoint of the same step is replaced.
  std::string save(const CheckpointWriter& writer, int64_t step);
  void mark_best(const std::string& name);
  /// Keeps the newest `count` valid ones and the best one, and removes all older ones.
  void keep(int64_t count);

  std::vector<std::string> names() const;  // by step, the oldest first, valid and damaged
  std::optional<std::string> best_name() const;

  /// The newest valid one, if any, and the damaged ones that are newer: tell the user.
  struct Newest {
    std::optional<Checkpoint> checkpoint;
    std::vector<Damage> damaged;
  };
  Newest newest(Purpose purpose = Purpose::train) const;

  /// One of names(), or "best", or "last". If it is damaged, the error names the newest valid one before it.
  Checkpoint open(std::string_view name, Purpose purpose = Purpose::train) const;

  /// Removes what interrupted writers and removals left, and returns the names.
  std::vector<std::string> clean() const;

 private:
  std::filesystem::path folder_;
  std::set<std::string> good_;  // written or checked by this object: not worth reading again
};

}  // namespace heed::file
