#include "heed/file/json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "heed/tensor/error.h"

namespace heed::file {

namespace {

using Library = nlohmann::ordered_json;

Library to_library(const Json& json) {
  if (const auto* value = json.as<bool>()) return *value;
  if (const auto* value = json.as<int64_t>()) return *value;
  if (const auto* value = json.as<uint64_t>()) return *value;
  if (const auto* value = json.as<double>()) return *value;
  if (const auto* value = json.as<std::string>()) return *value;
  if (const auto* members = json.as<Json::Members>()) {
    Library all = Library::object();
    for (const auto& [name, value] : *members) all.emplace(name, to_library(value));
    return all;
  }
  if (const auto* elements = json.as<Json::Elements>()) {
    Library all = Library::array();
    for (const Json& element : *elements) all.push_back(to_library(element));
    return all;
  }
  return nullptr;
}

Json from_library(const Library& json) {
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_number_unsigned()) return json.get<uint64_t>();
  if (json.is_number_integer()) return json.get<int64_t>();
  if (json.is_number_float()) return json.get<double>();
  if (json.is_string()) return json.get<std::string>();
  Json all;
  if (json.is_object()) {
    all = Json::object();
    for (const auto& [name, value] : json.items()) all[name] = from_library(value);
  } else if (json.is_array()) {
    all = Json::array();
    for (const Library& element : json) all.push_back(from_library(element));
  }
  return all;
}

}  // namespace

std::optional<Json> Json::parse(std::string_view text) {
  const Library all = Library::parse(text, nullptr, /*allow_exceptions=*/false);
  if (all.is_discarded()) return {};
  return from_library(all);
}

std::string Json::text(int indent) const {
  try {
    return to_library(*this).dump(indent);
  } catch (const Library::exception&) {
    throw Error("JSON: a text in it is not valid UTF-8");
  }
}

std::string Json::line() const { return to_library(*this).dump(-1, ' ', false, Library::error_handler_t::replace); }

const char* Json::kind() const {
  constexpr const char* kKinds[] = {"null", "boolean", "number", "number", "number", "string", "object", "array"};
  return kKinds[value_.index()];
}

const Json* Json::find(std::string_view name) const {
  const auto* members = as<Members>();
  if (!members) return nullptr;
  const auto found = std::find_if(members->begin(), members->end(), [&](const Member& m) { return m.first == name; });
  return found == members->end() ? nullptr : &found->second;
}

Json& Json::operator[](std::string_view name) {
  if (const Json* found = find(name)) return const_cast<Json&>(*found);
  if (is_null()) value_ = Members();
  Members& members = std::get<Members>(value_);
  return members.emplace_back(name, Json()).second;
}

void Json::push_back(Json element) {
  if (is_null()) value_ = Elements();
  std::get<Elements>(value_).push_back(std::move(element));
}

}  // namespace heed::file
