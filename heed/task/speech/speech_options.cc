#include "heed/task/speech/speech_options.h"

#include "heed/sound/sound.h"
#include "heed/task/recipe_limits.h"

namespace heed::task {

using file::Limit;

void add_speech_keys(file::Fields& f, SpeechOptions& o) {
  f.add("model.sample_rate", o.sample_rate, "samples of a second; recordings of other rates are resampled",
        Limit::between(static_cast<double>(sound::kLeastRate), static_cast<double>(sound::kMostRate)));
  f.add("model.bands", o.bands, "mel bands of a frame, or columns of frames that are read from .npy files",
        Limit::between(1, 1024));
  f.add("model.window_ms", o.window_ms, "milliseconds of a frame", Limit::between(1, 1000));
  f.add("model.hop_ms", o.hop_ms, "milliseconds from one frame to the next", Limit::between(1, 1000));
  f.add("model.sound_norm", o.sound_norm,
        "each recording minus its mean and divided by its standard deviation: of all numbers, of each band, or none",
        Limit::one_of(words_of(kSoundNorms)));
  f.add("model.longest_sound", o.longest_sound, "seconds of the longest recording", Limit::between(0.1, 3600));
  f.add("model.convolutions", o.convolutions, "layers before the encoder; each halves the frames and the bands",
        Limit::between(1, 6));
  f.add("model.channels", o.channels, "channels of these layers", Limit::between(1, kMostWidth));
  f.add("model.time_masks", o.time_masks, "training: stretches of frames that are hidden in each recording",
        Limit::between(0, 100));
  f.add("model.time_mask", o.time_mask, "the most frames of each, and at most a fifth of the recording",
        Limit::between(1, 10'000));
  f.add("model.band_masks", o.band_masks, "training: stretches of bands that are hidden", Limit::between(0, 100));
  f.add("model.band_mask", o.band_mask, "the most bands of each", Limit::between(1, 1024));
  f.add("model.band_shift", o.band_shift,
        "training: each recording is shifted by up to so many bands, as if the voice was higher or lower",
        Limit::between(0, 1024));
  f.add("model.stretch", o.stretch, "training: each recording is made faster or slower by up to this share",
        Limit::between(0, 0.5));
  f.add(
      "model.tone", o.tone,
      "training: bands are made louder or quieter along a smooth curve, as by another microphone: its size, where the "
      "frames have a deviation of 1",
      Limit::between(0, 10));
  f.add(
      "model.noise", o.noise,
      "training: what is quieter than a level is raised to it, as by noise; the level is drawn up to this share of the "
      "range from the quietest to the loudest",
      Limit::between(0, 0.9));
  f.add("model.ctc", o.ctc,
        "training: weight of a second loss, of what the encoder says alone (connectionist temporal classification)",
        Limit::between(0, 100));
}

sound::FrameOptions frame_options(const SpeechOptions& o) {
  const sound::FrameOptions frames = {.mel = {.rate = o.sample_rate,
                                              .window = o.sample_rate * o.window_ms / 1000,
                                              .hop = o.sample_rate * o.hop_ms / 1000,
                                              .bands = o.bands},
                                      .normalise = value_of(kSoundNorms, o.sound_norm, "model: sound_norm"),
                                      .longest = o.longest_sound};
  frames.mel.check();
  return frames;
}

int64_t rows_of_frames(int64_t frames, int64_t convolutions) {
  for (int64_t l = 0; l < convolutions; ++l) frames = (frames + 1) / 2;
  return frames;
}

double seconds_of_row(const SpeechOptions& o) { return static_cast<double>(o.hop_ms << o.convolutions) / 1000.0; }

}  // namespace heed::task
