#include "heed/sound/log_mel.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>

#include "heed/base/error.h"
#include "heed/base/interrupt.h"
#include "heed/base/memory.h"
#include "heed/kernels/exact_math.h"
#include "heed/sound/sound.h"

namespace heed::sound {

namespace {

// Slaney's scale: linear up to 1000 Hz (mel 15), from there on logarithmic.
constexpr double kLinear = 200.0 / 3.0, kBreak = 1000.0, kBreakMel = 15.0;
double log_step() { return exact::log(6.4) / 27.0; }

double mel_of(double frequency) {
  if (frequency < kBreak) return frequency / kLinear;
  return kBreakMel + exact::log(frequency / kBreak) / log_step();
}
double frequency_of(double mel) {
  if (mel < kBreakMel) return kLinear * mel;
  return kBreak * exact::exp(log_step() * (mel - kBreakMel));
}

constexpr double kLeastPower = 1e-10, kRange = 80.0;  // decibels
double decibels(double power) {
  static const double factor = 10.0 / exact::log(10.0);
  return factor * exact::log(std::max(kLeastPower, power));
}

}  // namespace

int64_t MelOptions::transform() const {
  return std::max<int64_t>(4, static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(1, window)))));
}

void MelOptions::check() const {
  constexpr int64_t kMostWindow = 1 << 20, kMostBands = 4096;
  expect(rate >= kLeastRate && rate <= kMostRate, "{} samples of a second; from {} to {} are allowed", rate, kLeastRate,
         kMostRate);
  expect(hop >= 1 && hop <= kMostWindow && window >= 1 && window <= kMostWindow,
         "frames of {} samples, {} apart; both must be from 1 to {}", window, hop, kMostWindow);
  expect(bands >= 1 && bands <= kMostBands, "{} bands; from 1 to {} are allowed", bands, kMostBands);
}

LogMel::LogMel(const MelOptions& options) : options_((options.check(), options)), fourier_(options.transform()) {
  for (int64_t i = 0; i < options.window; ++i)
    window_.push_back(0.5 - 0.5 * exact::cos_turns(static_cast<double>(i) / static_cast<double>(options.window)));
  const int64_t bins = fourier_.size() / 2 + 1;
  const double highest = mel_of(static_cast<double>(options.rate) / 2.0);
  const auto edge = [&](int64_t i) {
    return frequency_of(highest * static_cast<double>(i) / static_cast<double>(options.bands + 1));
  };
  for (int64_t b = 0; b < options.bands; ++b) {
    const double low = edge(b), middle = edge(b + 1), high = edge(b + 2);
    Band band;
    for (int64_t k = 0; k < bins; ++k) {
      const double frequency =
          static_cast<double>(options.rate) * static_cast<double>(k) / static_cast<double>(fourier_.size());
      const double weight = std::min((frequency - low) / (middle - low), (high - frequency) / (high - middle));
      if (weight <= 0) continue;
      if (band.weights.empty()) band.first = k;
      band.weights.push_back(weight * 2.0 / (high - low));
    }
    bands_.push_back(std::move(band));
  }
}

Frames LogMel::operator()(std::span<const float> samples) const {
  const auto count = std::ssize(samples);
  const int64_t size = fourier_.size(), window = options_.window;
  Frames result{.rows = frames(count), .columns = options_.bands};
  expect_memory(static_cast<double>(sizeof(float)) * static_cast<double>(result.rows * result.columns),
                "the frames of a recording");
  result.values.resize(static_cast<size_t>(result.rows * result.columns));
  std::vector<double> frame(static_cast<size_t>(size), 0.0), power(static_cast<size_t>(size / 2 + 1)),
      work(static_cast<size_t>(size));
  const int64_t margin = (size - window) / 2;  // the window is in the middle of the transform
  double loudest = -std::numeric_limits<double>::infinity();
  for (int64_t t = 0; t < result.rows; ++t) {
    if (t % 256 == 0) stop_if_interrupted();
    const int64_t begin = t * options_.hop - size / 2 + margin;
    for (int64_t i = 0; i < window; ++i) {
      const int64_t at = begin + i;
      const double sample = at >= 0 && at < count ? samples[static_cast<size_t>(at)] : 0.0;
      frame[static_cast<size_t>(margin + i)] = sample * window_[static_cast<size_t>(i)];
    }
    fourier_.power(frame, power, work);
    for (int64_t b = 0; b < options_.bands; ++b) {
      const Band& band = bands_[static_cast<size_t>(b)];
      double sum = 0;
      for (size_t k = 0; k < band.weights.size(); ++k)
        sum += band.weights[k] * power[static_cast<size_t>(band.first) + k];
      const double level = decibels(sum);
      loudest = std::max(loudest, level);
      result.values[static_cast<size_t>(t * options_.bands + b)] = static_cast<float>(level);
    }
  }
  const auto least = static_cast<float>(loudest - kRange);
  for (float& value : result.values) value = std::max(value, least);
  return result;
}

void normalise(Frames& frames, Normalise how) {
  if (how == Normalise::none || frames.values.empty()) return;
  const int64_t groups = how == Normalise::bands ? frames.columns : 1;
  const auto count = static_cast<double>(std::ssize(frames.values) / groups);
  std::vector<double> mean(static_cast<size_t>(groups), 0.0), square(static_cast<size_t>(groups), 0.0);
  const auto group = [&](size_t i) { return i % static_cast<size_t>(groups); };
  for (size_t i = 0; i < frames.values.size(); ++i) mean[group(i)] += frames.values[i];
  for (double& m : mean) m /= count;
  for (size_t i = 0; i < frames.values.size(); ++i) {
    const double off = frames.values[i] - mean[group(i)];
    square[group(i)] += off * off;
  }
  constexpr double kLeast = 1e-3;  // of a standard deviation: a band may be silent
  for (size_t i = 0; i < frames.values.size(); ++i) {
    const double deviation = std::max(kLeast, std::sqrt(square[group(i)] / count));
    frames.values[i] = static_cast<float>((frames.values[i] - mean[group(i)]) / deviation);
  }
}

}  // namespace heed::sound
