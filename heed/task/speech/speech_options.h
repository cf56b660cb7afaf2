// What a model of recordings is, beside the options that all models have: its frames and what stands before its
// encoder.
#pragma once

#include <cstdint>
#include <string>

#include "heed/base/choice.h"
#include "heed/base/fields.h"
#include "heed/model/options.h"
#include "heed/sound/named_frames.h"

namespace heed::task {

/// model::Options::own.of<SpeechOptions>()
struct SpeechOptions {
  int64_t sample_rate = 16000;  // recordings of another one are resampled
  int64_t bands = 80;
  int64_t window_ms = 25, hop_ms = 10;  // of a frame, and from one to the next
  std::string sound_norm = "all";       // a name of kSoundNorms
  double longest_sound = 30;            // seconds

  int64_t convolutions = 2;  // each halves the frames and the bands
  int64_t channels = 32;     // of each

  // While training, drawn anew for each recording and update.  Park et al. 2019: SpecAugment
  int64_t time_masks = 0, time_mask = 20;  // how many, and the most frames of each
  int64_t band_masks = 0, band_mask = 8;
  int64_t band_shift = 0;  // up or down by at most so many bands: other voices.  Jaitly and Hinton 2013
  double stretch = 0;      // faster or slower by at most this share
  double tone = 0;         // other microphones: bands louder or quieter along a smooth curve, in deviations
  double noise = 0;        // what is quieter than a level up to this share of the range sounds as loud as that

  float ctc = 0;  // while training: weight of what the encoder alone should say.  Kim et al. 2017

  bool changes_frames() const {
    return time_masks > 0 || band_masks > 0 || band_shift > 0 || stretch > 0 || tone > 0 || noise > 0;
  }
};

inline constexpr Choice<sound::Normalise> kSoundNorms[] = {
    {"bands", sound::Normalise::bands}, {"all", sound::Normalise::all}, {"none", sound::Normalise::none}};

/// Their keys of [model].
void add_speech_keys(file::Fields& fields, SpeechOptions& options);

/// What reads recordings for such a model. Throws if no frames can be computed so.
sound::FrameOptions frame_options(const SpeechOptions& options);

/// Rows that a model makes of so many frames.
int64_t rows_of_frames(int64_t frames, int64_t convolutions);
/// Seconds from one to the next.
double seconds_of_row(const SpeechOptions& options);

inline const SpeechOptions& speech_options(const model::Options& model) { return model.own.of<SpeechOptions>(); }

}  // namespace heed::task
