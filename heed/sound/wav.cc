// RIFF, as Microsoft's "Multiple Channel Audio Data and WAVE Files" has it: chunks of a name of four letters, a size
// and as many bytes, filled to an even number. Strict: what is damaged or cut short is refused, not guessed.
#include <bit>
#include <cmath>
#include <string_view>

#include "heed/base/error.h"
#include "heed/base/interrupt.h"
#include "heed/sound/sound.h"

namespace heed::sound {

namespace {

constexpr size_t kChunkHead = 8;
constexpr uint64_t kPcm = 1, kFloat = 3, kExtensible = 0xFFFE;
constexpr uint64_t kUnknownSize = 0xFFFFFFFF;  // written by programs that cannot go back to their header

uint64_t number(std::string_view bytes, size_t at, size_t count) {
  uint64_t value = 0;
  for (size_t i = 0; i < count; ++i) value |= uint64_t{static_cast<uint8_t>(bytes[at + i])} << (8 * i);
  return value;
}

struct Format {
  bool floats = false;
  int64_t channels = 0, rate = 0, bits = 0;
  int64_t sample_bytes() const { return bits / 8; }
};

Format read_format(std::string_view chunk) {
  constexpr size_t kPlain = 16, kExtended = 40, kSubformat = 24;
  expect(chunk.size() >= kPlain, ErrorKind::file, "its chunk 'fmt ' has {} bytes, not at least {}", chunk.size(),
         kPlain);
  uint64_t tag = number(chunk, 0, 2);
  if (tag == kExtensible) {
    expect(chunk.size() >= kExtended, ErrorKind::file, "its extensible chunk 'fmt ' has {} bytes, not at least {}",
           chunk.size(), kExtended);
    tag = number(chunk, kSubformat, 2);
  }
  expect(tag == kPcm || tag == kFloat, ErrorKind::file,
         "its samples are coded in format {}; PCM (1) and floating point (3) are read: convert it with ffmpeg -i FILE "
         "-c:a pcm_s16le recording.wav",
         tag);
  const Format f = {.floats = tag == kFloat,
                    .channels = static_cast<int64_t>(number(chunk, 2, 2)),
                    .rate = static_cast<int64_t>(number(chunk, 4, 4)),
                    .bits = static_cast<int64_t>(number(chunk, 14, 2))};
  expect(f.channels >= 1 && f.channels <= kMostChannels, ErrorKind::file, "{} channels; 1 to {} are read", f.channels,
         kMostChannels);
  expect(f.rate >= kLeastRate && f.rate <= kMostRate, ErrorKind::file,
         "{} samples of a second; rates from {} to {} are read", f.rate, kLeastRate, kMostRate);
  const bool known =
      f.floats ? f.bits == 32 || f.bits == 64 : f.bits == 8 || f.bits == 16 || f.bits == 24 || f.bits == 32;
  expect(known, ErrorKind::file, "samples of {} bits; {} are read", f.bits,
         f.floats ? "floating-point numbers of 32 or 64" : "PCM of 8, 16, 24 or 32");
  const auto block = static_cast<int64_t>(number(chunk, 12, 2));
  expect(block == f.channels * f.sample_bytes(), ErrorKind::file,
         "a moment of {} channels of {} bits has {} bytes, but its header says {}", f.channels, f.bits,
         f.channels * f.sample_bytes(), block);
  return f;
}

double sample_of(std::string_view bytes, size_t at, const Format& f) {
  const auto count = static_cast<size_t>(f.sample_bytes());
  const uint64_t raw = number(bytes, at, count);
  if (f.floats)
    return f.bits == 32 ? double{std::bit_cast<float>(static_cast<uint32_t>(raw))} : std::bit_cast<double>(raw);
  if (f.bits == 8) return (static_cast<double>(raw) - 128.0) / 128.0;  // of 8 bits alone without a sign
  const int unused = 64 - static_cast<int>(f.bits);
  return static_cast<double>(static_cast<int64_t>(raw << unused) >> unused) /
         static_cast<double>(uint64_t{1} << (f.bits - 1));
}

Sound read_samples(std::string_view data, const Format& f) {
  const int64_t block = f.channels * f.sample_bytes(), count = std::ssize(data) / block;
  expect(std::ssize(data) % block == 0, ErrorKind::file,
         "{} bytes of samples are no whole number of moments of {} bytes: it is cut short", data.size(), block);
  expect(count > 0, ErrorKind::file, "there are no samples");
  Sound sound{.rate = f.rate};
  sound.samples.resize(static_cast<size_t>(count));
  constexpr int64_t kAtOnce = 1 << 20;  // between two questions whether to go on
  for (int64_t i = 0; i < count; ++i) {
    if (i % kAtOnce == 0) stop_if_interrupted();
    double sum = 0;
    for (int64_t c = 0; c < f.channels; ++c)
      sum += sample_of(data, static_cast<size_t>(i * block + c * f.sample_bytes()), f);
    const double mean = sum / static_cast<double>(f.channels);
    expect(std::isfinite(mean) && std::abs(mean) <= 1e6, ErrorKind::file,
           "sample {} is {}; numbers from -1 to 1 are expected", i + 1, mean);
    sound.samples[static_cast<size_t>(i)] = static_cast<float>(mean);
  }
  return sound;
}

}  // namespace

bool is_wav(std::string_view bytes) {
  return bytes.starts_with("RIFF") && bytes.size() >= 12 && bytes.substr(8, 4) == "WAVE";
}

Sound wav_sound(std::string_view bytes) {
  Format format;
  bool has_format = false;
  for (size_t at = 12; at + kChunkHead <= bytes.size();) {
    const std::string_view name = bytes.substr(at, 4);
    const uint64_t said = number(bytes, at + 4, 4);
    at += kChunkHead;
    const std::string_view rest = bytes.substr(at);
    if (name == "data") {
      expect(has_format, ErrorKind::file, "its samples come before the chunk 'fmt ' that says what they are");
      expect(said <= rest.size() || said == kUnknownSize, ErrorKind::file,
             "it is cut short: {} bytes of samples are announced, and {} are there", said, rest.size());
      return read_samples(rest.substr(0, said), format);
    }
    expect(said <= rest.size(), ErrorKind::file, "it is cut short: a chunk of {} bytes is announced, and {} are there",
           said, rest.size());
    if (name == "fmt ") {
      format = read_format(rest.substr(0, said));
      has_format = true;
    }
    at += said + said % 2;
  }
  throw Error(ErrorKind::file, has_format ? "it has no chunk 'data' with samples: it is cut short"
                                          : "it has no chunk 'fmt ' that says what its samples are");
}

}  // namespace heed::sound
