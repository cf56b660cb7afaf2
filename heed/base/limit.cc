#include "heed/base/limit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "heed/base/nearest.h"

namespace heed::file {

namespace {

/// `number` prints as it was written: a whole number without a point.
template <class T>
std::string range_problem(T number, const Limit& limit) {
  const auto as_double = static_cast<double>(number);
  const bool low =
      limit.least && (limit.least->included ? as_double < limit.least->value : as_double <= limit.least->value);
  const bool high =
      limit.most && (limit.most->included ? as_double > limit.most->value : as_double >= limit.most->value);
  return low || high ? fmt::format("must be {}, not {}", limit.text(), number) : "";
}

template <class T>
struct IsList : std::false_type {};
template <class T>
struct IsList<std::vector<T>> : std::true_type {};

/// Whole numbers of 32 bits as those of 64, float as double.
template <class T>
std::string problem_of_any(const T& value, const Limit& limit) {
  if constexpr (IsList<T>::value) {
    if (limit.needed && value.empty()) return "must not be empty";
    if (limit.or_empty && value.empty()) return "";
    for (const auto& each : value)
      if (std::string problem = problem_of_any(each, limit); !problem.empty()) return problem;
    return "";
  } else if constexpr (std::is_same_v<T, int32_t>) {
    return problem_of(int64_t{value}, limit);
  } else if constexpr (std::is_same_v<T, float>) {
    // 0.1f is not above 0.1: a float counts as the shortest decimal that represents it.
    return problem_of(std::isfinite(value) ? std::stod(fmt::format("{}", value)) : double{value}, limit);
  } else {
    return problem_of(value, limit);
  }
}

}  // namespace

std::string Limit::text() const {
  if (!words.empty()) return fmt::format("one of {}", fmt::join(words, ", "));
  if (least && most)
    return fmt::format(
        "{} {}{} {}", least->included ? "from" : "above", least->value,
        most->included ? (least->included ? " to" : ", at most") : (least->included ? " to below" : ", below"),
        most->value);
  if (least) return fmt::format("{} {}", least->included ? "at least" : "above", least->value);
  if (most) return fmt::format("{} {}", most->included ? "at most" : "below", most->value);
  return needed ? "not empty" : "";
}

const std::string* Limit::word_now(std::string_view word) const {
  for (const Renamed& each : renamed)
    if (each.before == word) return &each.now;
  return nullptr;
}

std::string problem_of(bool, const Limit&) { return ""; }
std::string problem_of(std::optional<bool>, const Limit&) { return ""; }

std::string problem_of(int64_t value, const Limit& limit) { return range_problem(value, limit); }

std::string problem_of(uint64_t value, const Limit& limit) { return range_problem(value, limit); }

std::string problem_of(double value, const Limit& limit) {
  if (!std::isfinite(value)) return fmt::format("must be a finite number, not {}", value);
  return range_problem(value, limit);
}

std::string problem_of(const std::string& value, const Limit& limit) {
  if (limit.needed && value.empty()) return "must not be empty";
  if (limit.or_empty && value.empty()) return "";
  if (limit.words.empty() || std::find(limit.words.begin(), limit.words.end(), value) != limit.words.end()) return "";
  return fmt::format("must be {}, not '{}'; did you mean '{}'?", limit.text(), value, nearest(value, limit.words));
}

std::string problem_of(const std::filesystem::path& value, const Limit& limit) {
  return problem_of(value.string(), limit);
}

std::string problem_of(const Target& target, const Limit& limit) {
  return std::visit([&](const auto* value) { return problem_of_any(*value, limit); }, target);
}

}  // namespace heed::file
