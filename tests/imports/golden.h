// What other programs say of the small models in tests/golden/imports (tests/golden/make_imports.py).
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/disk.h"
#include "heed/base/json.h"

namespace heed::imports::test {

inline std::filesystem::path golden(const std::string& name) {
  return std::filesystem::path(HEED_TEST_DATA).parent_path() / "golden" / "imports" / name;
}

inline file::Json golden_json(const std::string& name) { return *file::Json::parse(file::read_text(golden(name))); }

inline const std::vector<file::Json>& elements(const file::Json& json, std::string_view name) {
  return *json.find(name)->as<file::Json::Elements>();
}
inline const std::string& text(const file::Json& json, std::string_view name) {
  return *json.find(name)->as<std::string>();
}
inline int64_t integer(const file::Json& json) { return static_cast<int64_t>(*json.as<uint64_t>()); }
inline double number(const file::Json& json) {
  if (const auto* whole = json.as<uint64_t>()) return static_cast<double>(*whole);
  if (const auto* whole = json.as<int64_t>()) return static_cast<double>(*whole);
  return *json.as<double>();
}
inline std::vector<int64_t> integers(const file::Json& json, std::string_view name) {
  std::vector<int64_t> all;
  for (const file::Json& each : elements(json, name)) all.push_back(integer(each));
  return all;
}

}  // namespace heed::imports::test
