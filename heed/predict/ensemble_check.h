// Whether models can write together.
#pragma once

#include <cstddef>

#include "heed/checkpoint/trained_model.h"

namespace heed::predict {

/// Throws if model number `which` does another task than the first, or writes other tokens: the message names the first
/// difference.
void expect_same_outputs(const trained::TrainedModel& first, const trained::TrainedModel& other, size_t which);

/// Whether both cut sources into the same tokens, pictures into the same cells, or recordings
/// into the same rows.
bool read_the_same(const trained::TrainedModel& first, const trained::TrainedModel& other);

}  // namespace heed::predict
