// The mean of the weights of several checkpoints of one model (Vaswani et al. 2017, section 6.1, take the last ones).
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "heed/file/checkpoint.h"

namespace heed::trained {

class AverageCheckpoint {
 public:
  /// Sums in double. Throws if they are not of the same model: other options, vocabularies, names or shapes.
  explicit AverageCheckpoint(std::span<const file::Checkpoint> checkpoints);

  /// A checkpoint that load_model() reads: config.toml, weights, vocabularies, and a state with `step` (of the newest)
  /// and `averaged` (how many). Training cannot be resumed from it.
  void write(const std::filesystem::path& folder) const;

 private:
  struct Weight {
    std::string name;
    std::vector<int64_t> shape;
    std::vector<float> mean;
  };
  std::vector<Weight> weights_;
  file::CheckpointWriter others_;
};

}  // namespace heed::trained
