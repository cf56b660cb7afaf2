#include "heed/imports/json_file.h"

#include <fmt/format.h>

#include <utility>

#include "heed/base/disk.h"
#include "heed/base/error.h"

namespace heed::imports {

using file::Json;

namespace {
/// An entry of a model of millions of tokens is not a gigabyte.
constexpr uint64_t kLongestJson = uint64_t{256} << 20;
}  // namespace

Json read_json(const std::filesystem::path& path) {
  std::optional<Json> json = Json::parse(file::read_text(path, kLongestJson));
  expect(json.has_value(), ErrorKind::file, "'{}' is not JSON", path.string());
  return std::move(*json);
}

JsonFile::JsonFile(const std::filesystem::path& path) : JsonFile(read_json(path), path.string()) {
  expect(json_.as<Json::Members>() != nullptr, ErrorKind::file, "'{}' holds {}, not an object", file_, json_.kind());
}

const Json* JsonFile::find(std::string_view key) const {
  const Json* found = json_.find(key);
  return found && !found->is_null() ? found : nullptr;
}

std::optional<double> JsonFile::number(std::string_view key) const {
  const Json* found = find(key);
  if (!found) return std::nullopt;
  if (const auto* value = found->as<double>()) return *value;
  if (const auto* value = found->as<uint64_t>()) return static_cast<double>(*value);
  if (const auto* value = found->as<int64_t>()) return static_cast<double>(*value);
  throw Error(ErrorKind::file, fmt::format("'{}': {} is a {}, not a number", file_, key, found->kind()));
}

std::optional<int64_t> JsonFile::integer(std::string_view key) const {
  const Json* found = find(key);
  if (!found) return std::nullopt;
  const auto* value = found->as<uint64_t>();
  expect(value && *value < (uint64_t{1} << 40), ErrorKind::file, "'{}': {} is not a whole number from 0 on", file_,
         key);
  return static_cast<int64_t>(*value);
}

std::optional<std::string> JsonFile::text(std::string_view key) const {
  const Json* found = find(key);
  if (!found) return std::nullopt;
  const auto* value = found->as<std::string>();
  expect(value != nullptr, ErrorKind::file, "'{}': {} is a {}, not a text", file_, key, found->kind());
  return *value;
}

bool JsonFile::flag(std::string_view key, bool missing) const {
  const Json* found = find(key);
  if (!found) return missing;
  const auto* value = found->as<bool>();
  expect(value != nullptr, ErrorKind::file, "'{}': {} is a {}, not true or false", file_, key, found->kind());
  return *value;
}

int64_t JsonFile::needed(std::string_view key) const {
  const std::optional<int64_t> value = integer(key);
  expect(value.has_value(), ErrorKind::file, "'{}' does not say {}", file_, key);
  return *value;
}

void JsonFile::refuse(std::string_view key, std::string_view why) const {
  const Json* found = find(key);
  throw Error(ErrorKind::file, fmt::format("'{}': {} = {}: {}", file_, key, found ? found->line() : "null", why));
}

std::vector<std::string> texts_of(const Json& json, const std::string& file) {
  const auto* elements = json.as<Json::Elements>();
  expect(elements != nullptr, ErrorKind::file, "'{}' holds a {}, not a list of texts", file, json.kind());
  std::vector<std::string> texts;
  texts.reserve(elements->size());
  for (const Json& element : *elements) {
    const auto* text = element.as<std::string>();
    expect(text != nullptr, ErrorKind::file, "'{}': element {} of its list is a {}, not a text", file, texts.size(),
           element.kind());
    texts.push_back(*text);
  }
  return texts;
}

}  // namespace heed::imports
