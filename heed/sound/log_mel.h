// What an ear hears of a recording, moment by moment: log-mel frames, as librosa computes them.
//
//   librosa.power_to_db(librosa.feature.melspectrogram(y=samples, sr=rate, n_fft=transform, win_length=window,
//                       hop_length=hop, n_mels=bands, window="hann", center=True, power=2), top_db=80)
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heed/sound/fourier.h"

namespace heed::sound {

/// Numbers moment by moment.
struct Frames {
  int64_t rows = 0, columns = 0;
  std::vector<float> values = {};  // [rows, columns]
};

struct MelOptions {
  int64_t rate = 16000;  // samples of a second
  int64_t window = 400;  // samples of a frame, under a Hann window
  int64_t hop = 160;     // samples from one frame to the next
  int64_t bands = 80;

  /// Of the transform: the next power of two of the window.
  int64_t transform() const;
  /// Throws, with the reason, if no frames can be computed so.
  void check() const;
};

/// Threads: many may use it at once.
class LogMel {
 public:
  explicit LogMel(const MelOptions& options);

  /// Frame t is about the samples around t * hop; those before the first and after the last are 0.
  int64_t frames(int64_t samples) const { return 1 + samples / options_.hop; }
  /// samples [n] -> [frames(n), bands] in decibels; what is more than 80 below the loudest is 80 below it.
  Frames operator()(std::span<const float> samples) const;

 private:
  struct Band {
    int64_t first = 0;            // of the frequencies of the transform
    std::vector<double> weights;  // of those from there
  };

  MelOptions options_;
  Fourier fourier_;
  std::vector<double> window_;
  std::vector<Band> bands_;
};

/// What is taken away and divided by, so that loud and quiet recordings are alike: nothing; the mean and the standard
/// deviation of each column; or those of all numbers.
enum class Normalise { none, bands, all };
void normalise(Frames& frames, Normalise how);

}  // namespace heed::sound
