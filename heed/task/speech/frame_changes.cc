#include "heed/task/speech/frame_changes.h"

#include <algorithm>
#include <cmath>

#include "heed/base/random.h"

namespace heed::task {

namespace {

/// [rows, bands] -> [about rows * factor, bands], between neighbours on a line.
std::vector<float> stretched(std::span<const float> frames, int64_t bands, double factor) {
  const int64_t rows = std::ssize(frames) / bands;
  const int64_t results = std::max<int64_t>(1, std::llround(static_cast<double>(rows) * factor));
  std::vector<float> result(static_cast<size_t>(results * bands));
  for (int64_t t = 0; t < results; ++t) {
    const double at = std::min(static_cast<double>(t) / factor, static_cast<double>(rows - 1));
    const auto before = static_cast<int64_t>(at);
    const int64_t after = std::min(before + 1, rows - 1);
    const auto rest = static_cast<float>(at - static_cast<double>(before));
    for (int64_t b = 0; b < bands; ++b) {
      const float from = frames[static_cast<size_t>(before * bands + b)];
      const float to = frames[static_cast<size_t>(after * bands + b)];
      result[static_cast<size_t>(t * bands + b)] = from + rest * (to - from);
    }
  }
  return result;
}

/// Band b becomes what band b + shift was; beyond the last and first, these are repeated.
void shift_bands(std::vector<float>& frames, int64_t bands, int64_t shift) {
  std::vector<float> row(static_cast<size_t>(bands));
  for (size_t begin = 0; begin < frames.size(); begin += row.size()) {
    for (int64_t b = 0; b < bands; ++b)
      row[static_cast<size_t>(b)] = frames[begin + static_cast<size_t>(std::clamp<int64_t>(b + shift, 0, bands - 1))];
    std::copy(row.begin(), row.end(), frames.begin() + static_cast<int64_t>(begin));
  }
}

/// A tilt and an arch over the bands, each up to `size` at the ends.
void change_tone(std::vector<float>& frames, int64_t bands, double size, text::Random& random) {
  const double tilt = size * (2.0 * random.uniform() - 1.0), arch = size * (2.0 * random.uniform() - 1.0);
  std::vector<float> curve;
  for (int64_t b = 0; b < bands; ++b) {
    const double x = bands > 1 ? 2.0 * static_cast<double>(b) / static_cast<double>(bands - 1) - 1.0 : 0.0;
    curve.push_back(static_cast<float>(tilt * x + arch * (1.5 * x * x - 0.5)));
  }
  for (size_t i = 0; i < frames.size(); ++i) frames[i] += curve[i % curve.size()];
}

/// Nothing is below a level that is drawn up to this share of the range.
void raise_floor(std::vector<float>& frames, double share, text::Random& random) {
  const auto [least, most] = std::minmax_element(frames.begin(), frames.end());
  const auto level = static_cast<float>(*least + share * random.uniform() * (*most - *least));
  for (float& value : frames) value = std::max(value, level);
}

struct Stretch {
  int64_t first = 0, end = 0;
};

/// Anywhere among `count`, with 0 to `most`.
Stretch drawn(text::Random& random, int64_t most, int64_t count) {
  const auto length = static_cast<int64_t>(random.below(static_cast<uint64_t>(std::min(most, count)) + 1));
  const auto first = static_cast<int64_t>(random.below(static_cast<uint64_t>(count - length) + 1));
  return {first, first + length};
}

}  // namespace

std::vector<float> changed_frames(std::span<const float> given, const SpeechOptions& o, uint64_t seed) {
  text::Random random(seed, /*stream=*/0x737065656368);
  const int64_t bands = o.bands;
  const double factor = 1.0 + o.stretch * (2.0 * random.uniform() - 1.0);
  std::vector<float> frames =
      o.stretch > 0 ? stretched(given, bands, factor) : std::vector<float>(given.begin(), given.end());
  const int64_t rows = std::ssize(frames) / bands;
  if (o.band_shift > 0) {
    const auto drawn_shift = static_cast<int64_t>(random.below(static_cast<uint64_t>(2 * o.band_shift + 1)));
    shift_bands(frames, bands, drawn_shift - o.band_shift);
  }
  if (o.tone > 0) change_tone(frames, bands, o.tone, random);
  if (o.noise > 0) raise_floor(frames, o.noise, random);
  for (int64_t i = 0; i < o.time_masks; ++i) {
    const Stretch hidden = drawn(random, std::min(o.time_mask, rows / 5), rows);
    std::fill(frames.begin() + hidden.first * bands, frames.begin() + hidden.end * bands, 0.0f);
  }
  for (int64_t i = 0; i < o.band_masks; ++i) {
    const Stretch hidden = drawn(random, o.band_mask, bands);
    for (int64_t t = 0; t < rows; ++t)
      std::fill(frames.begin() + t * bands + hidden.first, frames.begin() + t * bands + hidden.end, 0.0f);
  }
  return frames;
}

}  // namespace heed::task
