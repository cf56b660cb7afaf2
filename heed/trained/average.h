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
  /// Sums in double. Throws where they are not of one model: another recipe of the model, vocabulary, name or shape.
  explicit AverageCheckpoint(std::span<const file::Checkpoint> checkpoints);

  /// A checkpoint that load_model() reads: config.toml, weights, vocabularies, and a state with `step` (of the newest)
  /// and `averaged` (how many). There is nothing in it for a training to go on from.
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
