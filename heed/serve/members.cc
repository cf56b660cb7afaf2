#include "heed/serve/members.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "heed/base/nearest.h"

namespace heed::serve {

using file::Json;

Members::Members(std::string_view body) : object_(&own_) {
  std::optional<Json> parsed = Json::parse(body);
  if (!parsed)
    throw Failure(
        400, "bad_json",
        body.empty() ? "The body is empty; a JSON object was expected." : "The body is not valid JSON in UTF-8.");
  own_ = std::move(*parsed);
  if (!own_.as<Json::Members>())
    throw Failure(400, "bad_json", fmt::format("The body is a JSON {}; an object was expected.", own_.kind()));
}

Members::Members(const Json& object, std::string where) : object_(&object), where_(std::move(where)) {
  if (!object_->as<Json::Members>())
    throw Failure(400, "bad_member", fmt::format("{} is a {}; an object was expected.", where_, object_->kind()));
}

std::string Members::place(std::string_view name) const {
  return where_.empty() ? fmt::format("\"{}\"", name) : fmt::format("\"{}\" of {}", name, where_);
}

const Json* Members::find(const char* name) {
  known_.emplace_back(name);
  const Json* member = object_->find(name);
  return member && !member->is_null() ? member : nullptr;
}

bool Members::has(const char* name) const {
  const Json* member = object_->find(name);
  return member && !member->is_null();
}

void Members::refuse(const char* name, std::string_view expected) const {
  const Json* member = object_->find(name);
  std::string came = member ? member->line() : "nothing";
  constexpr size_t kShown = 40;
  if (came.size() > kShown) came = fmt::format("a {}", member->kind());
  throw Failure(400, "bad_member", fmt::format("{} must be {}, not {}.", place(name), expected, came));
}

bool Members::take(const char* name, std::string& value) {
  const Json* member = find(name);
  if (!member) return false;
  const auto* text = member->as<std::string>();
  if (!text) refuse(name, "a string");
  value = *text;
  return true;
}

bool Members::take(const char* name, bool& value) {
  const Json* member = find(name);
  if (!member) return false;
  const bool* given = member->as<bool>();
  if (!given) refuse(name, "true or false");
  value = *given;
  return true;
}

bool Members::take(const char* name, int64_t& value, int64_t least, int64_t most) {
  const Json* member = find(name);
  if (!member) return false;
  const auto wrong = [&] { refuse(name, fmt::format("a whole number from {} to {}", least, most)); };
  if (!is_whole(*member, value) || value < least || value > most) wrong();
  return true;
}

bool Members::is_whole(const Json& json, int64_t& value) {
  if (const auto* given = json.as<uint64_t>(); given && *given <= static_cast<uint64_t>(INT64_MAX))
    value = static_cast<int64_t>(*given);
  else if (const auto* below = json.as<int64_t>())
    value = *below;
  else
    return false;
  return true;
}

bool Members::take(const char* name, std::vector<int64_t>& values, int64_t least, int64_t most) {
  const Json::Elements* elements = take_elements(name);
  if (!elements) return false;
  values.clear();
  for (const Json& element : *elements) {
    int64_t value = 0;
    if (!is_whole(element, value) || value < least || value > most)
      refuse(name, fmt::format("an array of whole numbers from {} to {}", least, most));
    values.push_back(value);
  }
  return true;
}

bool Members::take(const char* name, uint64_t& value) {
  const Json* member = find(name);
  if (!member) return false;
  const auto* given = member->as<uint64_t>();
  if (!given) refuse(name, "a whole number that is not below 0");
  value = *given;
  return true;
}

bool Members::take(const char* name, double& value, double least, double most) {
  const Json* member = find(name);
  if (!member) return false;
  if (const auto* given = member->as<double>())
    value = *given;
  else if (const auto* whole = member->as<uint64_t>())
    value = static_cast<double>(*whole);
  else if (const auto* below = member->as<int64_t>())
    value = static_cast<double>(*below);
  else
    refuse(name, "a number");
  if (!(value >= least && value <= most)) refuse(name, fmt::format("a number from {} to {}", least, most));
  return true;
}

bool Members::take(const char* name, std::vector<std::string>& values) {
  const Json::Elements* elements = take_elements(name);
  if (!elements) return false;
  values.clear();
  for (const Json& element : *elements) {
    const auto* text = element.as<std::string>();
    if (!text) refuse(name, "an array of strings");
    values.push_back(*text);
  }
  return true;
}

bool Members::take_one_or_more(const char* name, std::vector<std::string>& values) {
  const Json* member = find(name);
  if (!member) return false;
  if (const auto* text = member->as<std::string>()) {
    values = {*text};
    return true;
  }
  if (!member->as<Json::Elements>()) refuse(name, "a string or an array of strings");
  return take(name, values);
}

bool Members::take(const char* name, std::string& value, const std::vector<std::string>& words) {
  if (!take(name, value)) return false;
  if (std::find(words.begin(), words.end(), value) == words.end())
    refuse(name, fmt::format("one of {}", fmt::join(words, ", ")));
  return true;
}

const Json::Elements* Members::take_elements(const char* name) {
  const Json* member = find(name);
  if (!member) return nullptr;
  const auto* elements = member->as<Json::Elements>();
  if (!elements) refuse(name, "an array");
  return elements;
}

void Members::finish() const {
  for (const auto& [name, value] : *object_->as<Json::Members>()) {
    if (std::find(known_.begin(), known_.end(), name) != known_.end()) continue;
    throw Failure(
        400, "unknown_member",
        fmt::format("{} is not a member of this request; did you mean \"{}\"?", place(name), nearest(name, known_)));
  }
}

}  // namespace heed::serve
