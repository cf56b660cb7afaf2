// frames -> vectors for an encoder: convolutions over time and bands that halve both, and a layer on top.
#pragma once

#include <cstdint>
#include <vector>

#include "heed/data/ragged.h"
#include "heed/layer/convolution.h"
#include "heed/layer/linear.h"
#include "heed/layer/norm.h"
#include "heed/task/speech/speech_options.h"

namespace heed::task {

/// Layer: convolution 3 x 3 with stride 2, gelu; then the channels of all bands side by side, a linear layer, a norm.
/// Parameters: "convolution.N", "linear", "norm".
class FrameConvolution {
 public:
  FrameConvolution() = default;
  FrameConvolution(const Scope& scope, const SpeechOptions& options, int64_t width);

  /// [B] recordings of [frames, bands] -> [rows_of_frames() each, width]. While training, the frames are changed as the
  /// options say. A recording has the same rows in any batch.
  Packed run(Tape& tape, const data::Ragged<float>& frames) const;

 private:
  SpeechOptions options_;
  std::vector<Convolution> convolutions_;
  Linear linear_;
  LayerNorm norm_;
};

}  // namespace heed::task
