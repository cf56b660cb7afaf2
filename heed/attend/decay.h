// How the weight of a cost falls during training.
//   constant     w
//   linear       w max(0, 1 - t / steps)
//   exponential  w 0.1^(t / steps)
#pragma once

#include <cstdint>
#include <string>

namespace heed::attend {

/// `update`: the number of updates before this one.
float decayed(float weight, const std::string& schedule, int64_t steps, int64_t update);

/// Why a schedule cannot be used; empty if it can. "guided", "guide": guided refuses guide_schedule, guide_steps.
std::string decay_complaint(const char* who, const char* what, const std::string& schedule, int64_t steps);

}  // namespace heed::attend
