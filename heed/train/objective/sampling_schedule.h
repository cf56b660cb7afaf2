// How likely a decoder reads its own token after some updates: scheduled_sampling.cc has the formulas.
#pragma once

#include <cstdint>

#include "heed/train/objective/options.h"

namespace heed::objective {

/// `options.sampling_steps` must be above 0.
double own_token_probability(const Options& options, int64_t updates_before);

}  // namespace heed::objective
