#include "heed/sound/sound.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <system_error>

#include "heed/base/error.h"
#include "heed/base/memory.h"
#include "heed/text/file.h"

namespace heed::sound {

namespace {

void expect_rate(int64_t rate) {
  expect(rate >= kLeastRate && rate <= kMostRate, ErrorKind::file,
         "{} samples of a second; rates from {} to {} are read", rate, kLeastRate, kMostRate);
}

}  // namespace

SoundBytes bytes_of_file(const std::filesystem::path& file) {
  std::error_code error;
  const auto size = std::filesystem::file_size(file, error);
  if (!error) {
    expect(size <= static_cast<uintmax_t>(kMostBytes), ErrorKind::file,
           "'{}': {} bytes; recordings of at most {} are read: cut it into pieces", file.string(), size, kMostBytes);
    expect_memory(5.0 * static_cast<double>(size), fmt::format("the recording '{}'", file.string()));
  }
  return {.bytes = text::read_file(file), .name = file.string()};  // says what is wrong, if anything
}

Sound read_sound(const std::filesystem::path& file) { return read_sound(bytes_of_file(file)); }

Sound read_sound(const SoundBytes& file) {
  try {
    const std::string& bytes = file.bytes;
    expect(!bytes.empty(), ErrorKind::file, "the file is empty; a recording (WAV or FLAC) is expected");
    if (is_wav(bytes)) return wav_sound(bytes);
    expect(is_flac(bytes), ErrorKind::file,
           "neither WAV nor FLAC, by its first bytes; convert it to one of them: ffmpeg -i FILE recording.wav");
    Sound sound = flac_sound(bytes);
    expect_rate(sound.rate);
    expect(!sound.samples.empty(), ErrorKind::file, "there are no samples");
    return sound;
  } catch (const Error& error) {
    throw Error(error.kind(), fmt::format("'{}': {}", file.name, error.what()));
  }
}

Sound sound_of_pcm(std::string_view bytes, int64_t rate) {
  expect_rate(rate);
  expect(!bytes.empty(), ErrorKind::data, "there are no samples: 16-bit PCM is expected");
  expect(bytes.size() % 2 == 0, ErrorKind::data,
         "{} bytes are no whole number of samples: 16-bit PCM has two bytes for each", bytes.size());
  Sound sound{.rate = rate};
  sound.samples.resize(bytes.size() / 2);
  for (size_t i = 0; i < sound.samples.size(); ++i) {
    const auto low = static_cast<uint8_t>(bytes[2 * i]), high = static_cast<uint8_t>(bytes[2 * i + 1]);
    sound.samples[i] = static_cast<float>(static_cast<int16_t>(low | high << 8)) / 32768.0f;
  }
  return sound;
}

std::string wav_of(const Sound& sound) {
  std::string bytes;
  const auto put = [&](uint64_t value, int count) {
    for (int i = 0; i < count; ++i) bytes += static_cast<char>(value >> (8 * i) & 0xff);
  };
  constexpr uint64_t kHeader = 36, kSample = sizeof(float);
  const uint64_t data = kSample * sound.samples.size();
  const auto rate = static_cast<uint64_t>(sound.rate);
  expect(data <= static_cast<uint64_t>(kMostBytes), ErrorKind::data, "{} samples are too many for one recording",
         sound.samples.size());
  bytes.reserve(kHeader + 8 + data);
  bytes += "RIFF";
  put(kHeader + data, 4);
  bytes += "WAVEfmt ";
  put(16, 4);
  put(3, 2);  // floating-point numbers
  put(1, 2);
  put(rate, 4);
  put(rate * kSample, 4);
  put(kSample, 2);
  put(8 * kSample, 2);
  bytes += "data";
  put(data, 4);
  for (const float sample : sound.samples) put(std::bit_cast<uint32_t>(sample), kSample);
  return bytes;
}

}  // namespace heed::sound
