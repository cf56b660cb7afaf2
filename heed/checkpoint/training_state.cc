#include "heed/checkpoint/training_state.h"

#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/base/nearest.h"

namespace heed::file {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// JSON has no infinities and no nan: {"real": "inf"}.
Json to_json(double number) {
  if (std::isfinite(number)) return number;
  return Json::object({{"real", std::isnan(number) ? "nan" : number > 0 ? "inf" : "-inf"}});
}
Json to_json(const auto& value) { return value; }

std::optional<double> not_finite(const Json& value) {
  const auto* members = value.as<Json::Members>();
  if (!members || members->size() != 1 || members->front().first != "real") return {};
  const auto* word = members->front().second.as<std::string>();
  if (!word) return {};
  if (*word == "inf") return kInfinity;
  if (*word == "-inf") return -kInfinity;
  if (*word == "nan") return kNan;
  return {};
}

TrainingState::Value from_json(const Json& value, std::string_view name, std::string_view file) {
  if (const auto* v = value.as<bool>()) return *v;
  if (const auto* v = value.as<uint64_t>()) return *v;
  if (const auto* v = value.as<int64_t>()) return *v;
  if (const auto* v = value.as<double>()) return *v;
  if (const auto* v = value.as<std::string>()) return *v;
  if (const std::optional<double> number = not_finite(value)) return *number;
  throw Error(ErrorKind::file,
              fmt::format("'{}': '{}' must be a number, a text, true or false, not {}", file, name, value.kind()));
}

const char* kind(const TrainingState::Value& value) {
  constexpr const char* kinds[] = {"true or false", "a whole number", "a whole number", "a real number", "a text"};
  return kinds[value.index()];
}

}  // namespace

const TrainingState::Value& TrainingState::at(std::string_view name) const {
  const auto found = values_.find(name);
  if (found != values_.end()) return found->second;
  std::vector<std::string> names;
  for (const auto& [each, value] : values_) names.push_back(each);
  expect(!names.empty(), ErrorKind::file, "{} has no '{}': it is empty", name_, name);
  throw Error(ErrorKind::file, fmt::format("{} has no '{}'; did you mean '{}'?", name_, name, nearest(name, names)));
}

bool TrainingState::flag(std::string_view name) const {
  const bool* value = std::get_if<bool>(&at(name));
  expect(value, ErrorKind::file, "the state's '{}' must be true or false, not {}", name, kind(at(name)));
  return *value;
}

int64_t TrainingState::integer(std::string_view name) const {
  const Value& value = at(name);
  if (const auto* number = std::get_if<int64_t>(&value)) return *number;
  const auto* number = std::get_if<uint64_t>(&value);
  expect(number, ErrorKind::file, "the state's '{}' must be a whole number, not {}", name, kind(value));
  expect(*number <= uint64_t{INT64_MAX}, ErrorKind::file, "the state's '{}' must be at most 2^63 - 1, not {}", name,
         *number);
  return static_cast<int64_t>(*number);
}

int64_t TrainingState::integer(std::string_view name, int64_t least, int64_t most) const {
  const int64_t value = integer(name);
  expect(value >= least && value <= most, ErrorKind::file, "the state's '{}' must be from {} to {}, not {}", name,
         least, most, value);
  return value;
}

uint64_t TrainingState::natural(std::string_view name) const {
  const Value& value = at(name);
  if (const auto* number = std::get_if<uint64_t>(&value)) return *number;
  const auto* number = std::get_if<int64_t>(&value);
  expect(number, ErrorKind::file, "the state's '{}' must be a whole number, not {}", name, kind(value));
  expect(*number >= 0, ErrorKind::file, "the state's '{}' must not be negative, it is {}", name, *number);
  return static_cast<uint64_t>(*number);
}

double TrainingState::real(std::string_view name) const {
  const double* value = std::get_if<double>(&at(name));
  expect(value, ErrorKind::file, "the state's '{}' must be a real number, not {}", name, kind(at(name)));
  return *value;
}

const std::string& TrainingState::text(std::string_view name) const {
  const std::string* value = std::get_if<std::string>(&at(name));
  expect(value, ErrorKind::file, "the state's '{}' must be a text, not {}", name, kind(at(name)));
  return *value;
}

std::string TrainingState::json() const {
  Json all = Json::object();
  for (const auto& [name, value] : values_)
    all[name] = std::visit([](const auto& each) { return to_json(each); }, value);
  try {
    return all.text(2) + "\n";
  } catch (const Error&) {
    throw Error("cannot write the state: a name or a text in it is not valid UTF-8");
  }
}

TrainingState TrainingState::parse(std::string_view json, std::string_view file) {
  const std::optional<Json> all = Json::parse(json);
  const auto* members = all ? all->as<Json::Members>() : nullptr;
  expect(members, ErrorKind::file, "'{}': it must be a JSON object", file);
  TrainingState state;
  state.name_ = fmt::format("'{}'", file);
  for (const auto& [name, value] : *members) state.values_.emplace(name, from_json(value, name, file));
  return state;
}

}  // namespace heed::file
