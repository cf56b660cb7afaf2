// Event files for TensorBoard: tensorboard --logdir FOLDER draws the curves.
//
// A file is a sequence of records; a record is
//
//   uint64 length, uint32 masked CRC-32C of the length, the bytes, uint32 masked CRC-32C of the bytes      (TFRecord)
//
// The bytes are an Event of tensorflow/core/util/event.proto, of which only a few fields are written.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heed/train/observer.h"

namespace heed::train {

/// Threads: one at a time.
class EventFile final : public TrainingObserver {
 public:
  /// A new file in `folder`, which must exist; every `every`-th update is written.
  EventFile(const std::filesystem::path& folder, int64_t every);

  void started(const Started& started) override;
  void stepped(const StepReport& report, const Progress& progress) override;
  void validated(const Validated& validated, const Progress& progress) override;

 private:
  using Scalars = std::vector<std::pair<std::string, double>>;
  void write(int64_t step, const Scalars& scalars);
  void write_record(const std::string& event);

  std::filesystem::path path_;
  int64_t every_;
  std::ofstream file_;
};

/// CRC-32C (Castagnoli) of the bytes.
uint32_t crc32c(std::string_view bytes);

}  // namespace heed::train
