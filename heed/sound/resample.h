// A recording at another rate.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace heed::sound {

/// samples [n] of `from` a second -> [ceil(n to / from)] of `to` a second, without what the lower rate cannot hold.
/// The same bits on every machine.  Smith: Digital audio resampling (https://ccrma.stanford.edu/~jos/resample/)
std::vector<float> resampled(std::span<const float> samples, int64_t from, int64_t to);

}  // namespace heed::sound
