// Recordings as numbers: WAV by a reader of our own, and FLAC where libsndfile is on the machine.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace heed::sound {

/// One channel; those of a file are mixed down to their mean.
struct Sound {
  int64_t rate = 0;                 // samples of a second
  std::vector<float> samples = {};  // from -1 to 1

  double seconds() const { return rate > 0 ? static_cast<double>(samples.size()) / static_cast<double>(rate) : 0; }
};

// What a header may say; a file that says anything else is refused before memory is given for it.
inline constexpr int64_t kLeastRate = 1000, kMostRate = 768'000;
inline constexpr int64_t kMostChannels = 64;
inline constexpr int64_t kMostBytes = int64_t{1} << 30;  // of a file

/// The bytes of a file, and what errors call it.
struct SoundBytes {
  std::string bytes, name;
};

/// All of a file, as far as recordings may be so large. Throws Error with its name.
SoundBytes bytes_of_file(const std::filesystem::path& file);

/// The recording: PCM of 8, 16, 24 or 32 bits or floating-point numbers of 32 or 64, in WAV; FLAC.
///
/// They are told apart by their first bytes. Throws Error, with the name of the file, if it is missing, neither of
/// both, too large, damaged, cut short or without samples.
Sound read_sound(const std::filesystem::path& file);
Sound read_sound(const SoundBytes& file);

/// PCM of 16 bits (little-endian, one channel) without a header, as `arecord -t raw` and `ffmpeg -f s16le` give it.
/// Throws if there is an odd number of bytes, or none.
Sound sound_of_pcm(std::string_view bytes, int64_t rate);

/// The bytes of a WAV file with 32-bit floats, which read_sound() reads as the same samples.
std::string wav_of(const Sound& sound);

/// Whether FLAC can be read: libsndfile is on this machine.
bool reads_flac();

// For read_sound(), of files that begin so; they throw Error without a name:
bool is_wav(std::string_view bytes);
Sound wav_sound(std::string_view bytes);
bool is_flac(std::string_view bytes);
Sound flac_sound(const std::string& bytes);

}  // namespace heed::sound
