// Values in a JSON file of another program. Errors name the file and the key.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/json.h"

namespace heed::imports {

class JsonFile {
 public:
  /// An object. Throws if the file cannot be read or is none.
  explicit JsonFile(const std::filesystem::path& path);
  JsonFile(const file::Json& json, std::string file) : json_(json), file_(std::move(file)) {}

  const std::string& file() const { return file_; }
  const file::Json& json() const { return json_; }

  // None where the key is missing or null; throws if the value is of another kind.
  std::optional<double> number(std::string_view key) const;
  std::optional<int64_t> integer(std::string_view key) const;  // at least 0
  std::optional<std::string> text(std::string_view key) const;
  bool flag(std::string_view key, bool missing) const;
  /// Throws where it is missing.
  int64_t needed(std::string_view key) const;

  /// Refuses a value that a model here cannot have: "'FILE': KEY is true: WHY".
  [[noreturn]] void refuse(std::string_view key, std::string_view why) const;

 private:
  const file::Json* find(std::string_view key) const;

  file::Json json_;
  std::string file_;
};

/// The elements of an array of texts. Throws otherwise.
std::vector<std::string> texts_of(const file::Json& json, const std::string& file);

file::Json read_json(const std::filesystem::path& path);

}  // namespace heed::imports
