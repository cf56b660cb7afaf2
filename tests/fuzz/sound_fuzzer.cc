// A recording (WAV, FLAC) or an array of frames. It may be refused with a reason; else what was read is within its
// limits, and becomes frames at another rate. The bytes are also read as the text of a recording inside a line, and as
// raw samples.
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>

#include "heed/base/memory.h"
#include "heed/sound/named_frames.h"
#include "heed/sound/npy.h"
#include "tests/fuzz/require.h"

namespace heed::test {
namespace {

/// What use() accepts or refuses.
template <class Use>
void check(const Use& use) {
  bool accepted = false;
  try {
    use(accepted);
  } catch (const Error& error) {
    require_refusal(error, accepted);
  } catch (const NotEnoughMemory&) {
  }
}

void require_frames(const sound::Frames& frames) {
  require(frames.rows > 0 && frames.columns > 0, "frames that are empty");
  require(std::ssize(frames.values) == frames.rows * frames.columns, "frames of another size");
  for (const float value : frames.values) require(std::isfinite(value), "a number that is not finite");
}

void check_sound(const std::string& bytes) {
  static const sound::FrameReader reader({.mel = {.rate = 2000, .window = 50, .hop = 20, .bands = 4}, .longest = 0.2});
  check([&](bool& accepted) {
    const sound::Sound sound = sound::read_sound({.bytes = bytes, .name = "memory"});
    accepted = true;
    require(!sound.samples.empty() && sound.samples.size() <= 8 * bytes.size() + 65536 * 64,
            "more than the bytes hold");
    require(sound.rate >= sound::kLeastRate && sound.rate <= sound::kMostRate, "a rate out of range");
    for (const float sample : sound.samples) require(std::isfinite(sample), "a sample that is no number");
    accepted = false;
    require_frames(reader.read(sound));  // or too long
  });
  check([&](bool&) {
    const sound::Frames frames = sound::npy_frames(bytes);
    require_frames(frames);
    require(frames.values.size() * sizeof(float) <= bytes.size(), "more than the bytes hold");
  });
  check([&](bool&) { require_frames(reader.read("data:" + bytes)); });
  check([&](bool&) { require_frames(reader.read(sound::sound_of_pcm(bytes, 2000))); });
}

}  // namespace
}  // namespace heed::test

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  heed::test::check_sound(std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}
