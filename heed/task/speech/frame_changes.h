// Recordings that are a little different in each update: SpecAugment, faster or slower, higher or lower, another
// microphone, more noise.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heed/task/speech/speech_options.h"

namespace heed::task {

/// frames [rows, bands] of a recording, changed as the options say -> the same or another number of rows. It depends on
/// the seed and the frames alone. What is hidden is 0, the mean of normalised frames.
std::vector<float> changed_frames(std::span<const float> frames, const SpeechOptions& options, uint64_t seed);

}  // namespace heed::task
