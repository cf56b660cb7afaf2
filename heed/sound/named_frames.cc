#include "heed/sound/named_frames.h"

#include <fmt/format.h>

#include <string>

#include "heed/base/error.h"
#include "heed/data/base64.h"
#include "heed/data/sound_source.h"
#include "heed/sound/npy.h"
#include "heed/sound/resample.h"

namespace heed::sound {

namespace {

/// The bytes of a file, or of a recording inside a line.
SoundBytes bytes_named(std::string_view name) {
  if (!data::is_inline_sound(name)) return bytes_of_file(std::filesystem::path(name));
  SoundBytes sound{.bytes = {}, .name = data::sound_label(name)};
  try {
    const size_t comma = name.find(',');
    const std::string_view type = name.substr(0, comma);
    expect(comma != std::string_view::npos && type.starts_with("data:audio/") && type.ends_with(";base64"),
           ErrorKind::data, "a recording inside a line begins with data:audio/wav;base64, or data:audio/flac;base64,");
    sound.bytes = data::from_base64(name.substr(comma + 1), "a recording inside a line");
    expect(!sound.bytes.empty(), ErrorKind::data, "there is no recording after the comma");
    expect(is_wav(sound.bytes) || is_flac(sound.bytes), ErrorKind::data, "neither WAV nor FLAC, by its first bytes");
    return sound;
  } catch (const Error& error) {
    throw Error(error.kind(), fmt::format("'{}': {}", sound.name, error.what()));
  }
}

}  // namespace

Sound sound_named(std::string_view name) { return read_sound(bytes_named(name)); }

int64_t rate_of_named(std::string_view name) {
  const SoundBytes file = bytes_named(name);
  return is_npy(file.bytes) ? 0 : read_sound(file).rate;
}

Frames FrameReader::read(std::string_view name) const {
  const SoundBytes file = bytes_named(name);
  const bool ready = is_npy(file.bytes);
  try {
    if (!ready) return read(read_sound(file));
    Frames frames = npy_frames(file.bytes);
    expect(frames.columns == options_.mel.bands, ErrorKind::data,
           "its frames have {} numbers each, but the model reads {} (model.bands)", frames.columns, options_.mel.bands);
    const double seconds = static_cast<double>(frames.rows * options_.mel.hop) / static_cast<double>(options_.mel.rate);
    expect(seconds <= options_.longest, ErrorKind::data,
           "{} frames are {:.1f} s; at most {:g} are taken (model.longest_sound)", frames.rows, seconds,
           options_.longest);
    normalise(frames, options_.normalise);
    return frames;
  } catch (const Error& error) {
    const std::string what = error.what();
    throw Error(error.kind(), what.starts_with("'") ? what : fmt::format("'{}': {}", file.name, what));
  }
}

Frames FrameReader::read(const Sound& sound) const {
  expect(sound.seconds() <= options_.longest, ErrorKind::data,
         "it is {:.1f} s long; at most {:g} s are taken (model.longest_sound): cut it into pieces", sound.seconds(),
         options_.longest);
  Frames frames = log_mel_(resampled(sound.samples, sound.rate, options_.mel.rate));
  normalise(frames, options_.normalise);
  return frames;
}

}  // namespace heed::sound
