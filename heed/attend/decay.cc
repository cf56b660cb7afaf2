#include "heed/attend/decay.h"

#include <fmt/format.h>

#include <algorithm>

#include "heed/attend/choices.h"
#include "heed/kernels/exact_math.h"

namespace heed::attend {

float decayed(float weight, const std::string& schedule, int64_t steps, int64_t update) {
  const Decay kind = value_of(kDecays, schedule);
  if (kind == Decay::constant || steps <= 0) return weight;
  const double share = static_cast<double>(update) / static_cast<double>(steps);
  if (kind == Decay::linear) return weight * static_cast<float>(std::max(0.0, 1.0 - share));
  return weight * static_cast<float>(exact::power(0.1, share));
}

std::string decay_complaint(const char* who, const char* what, const std::string& schedule, int64_t steps) {
  if (!has_word(kDecays, schedule))
    return fmt::format("{} has the values {} for {}_schedule, not '{}'", who, listed(words_of(kDecays)), what,
                       schedule);
  const bool falls = value_of(kDecays, schedule) != Decay::constant;
  if (falls && steps < 1)
    return fmt::format("{} needs {}_steps above 0 with {}_schedule = \"{}\", not {}", who, what, what, schedule, steps);
  if (!falls && steps != 0)
    return fmt::format("{} has no use for {}_steps with {}_schedule = \"constant\": set it to linear or exponential",
                       who, what, what);
  return "";
}

}  // namespace heed::attend
