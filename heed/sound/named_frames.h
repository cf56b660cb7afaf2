// From what a line names to the frames that a model reads: a recording of any rate, or frames that are ready.
#pragma once

#include <string_view>

#include "heed/sound/log_mel.h"
#include "heed/sound/sound.h"

namespace heed::sound {

struct FrameOptions {
  MelOptions mel = {};
  Normalise normalise = Normalise::bands;
  double longest = 30;  // seconds; a longer recording is refused
};

/// The recording that a line names: a WAV or FLAC file, or one inside the line (data:audio/wav;base64,...).
Sound sound_named(std::string_view name);
/// How many samples a second it has; 0 of frames in an .npy file.
int64_t rate_of_named(std::string_view name);

/// Threads: many may use it at once.
class FrameReader {
 public:
  explicit FrameReader(const FrameOptions& options) : options_(options), log_mel_(options.mel) {}

  /// [frames, bands] of the recording at the rate of the options, or of an .npy file with as many columns as they have
  /// bands; normalised. Throws Error with its name if it cannot be read, or if it is too long.
  Frames read(std::string_view name) const;
  /// Of samples.
  Frames read(const Sound& sound) const;

 private:
  FrameOptions options_;
  LogMel log_mel_;
};

}  // namespace heed::sound
