// A checkpoint whose every part follows from one number, so that a mixture of two shows.
#pragma once

#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "heed/checkpoint/checkpoint.h"

namespace heed::test {

struct SmallCheckpoint {
  explicit SmallCheckpoint(int64_t number, int64_t size = 300)
      : weights(static_cast<size_t>(size)), moments(static_cast<size_t>(2 * size)) {
    std::iota(weights.begin(), weights.end(), static_cast<float>(number));
    std::iota(moments.begin(), moments.end(), static_cast<float>(-number));
    state.set("step", number);
    writer.add_text("config.toml", "number = " + std::to_string(number) + "\n");
    writer.add_tensors("weights.safetensors", {{"w", {size}, weights.data()}});
    writer.add_tensors("optimiser.safetensors", {{"m", {2, size}, moments.data()}});
    writer.add_text("source.vocab", "a\nb\n");
    writer.add_state(state);
  }

  std::vector<float> weights, moments;
  file::TrainingState state;
  file::CheckpointWriter writer;
};

/// The number that it was made of, having compared everything.
inline int64_t number_of(const file::Checkpoint& checkpoint) {
  const int64_t number = checkpoint.state().integer("step");
  const SmallCheckpoint same(number,
                             static_cast<int64_t>(checkpoint.tensors("weights.safetensors").values("w").size()));
  EXPECT_EQ(checkpoint.text("config.toml"), "number = " + std::to_string(number) + "\n");
  EXPECT_EQ(checkpoint.tensors("weights.safetensors").values("w"), same.weights);
  EXPECT_EQ(checkpoint.tensors("optimiser.safetensors").values("m"), same.moments);
  EXPECT_EQ(checkpoint.text("source.vocab"), "a\nb\n");
  EXPECT_EQ(checkpoint.parts().size(), 5u);
  return number;
}

}  // namespace heed::test
