#include "heed/imports/token_table.h"

#include <algorithm>

#include "heed/base/disk.h"
#include "heed/base/error.h"

namespace heed::imports {

namespace {
constexpr int64_t kMostTokens = 10'000'000;
}

using file::Json;

bool says(const Json* json, std::string_view word) {
  const auto* text = json ? json->as<std::string>() : nullptr;
  return text && *text == word;
}

std::vector<std::string> lines_of_file(const std::filesystem::path& path) {
  const std::string text = file::read_text(path);
  std::vector<std::string> lines;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    if (lines.back().ends_with('\r')) lines.back().pop_back();
    at = end + 1;
  }
  return lines;
}

void TokenTable::set(const Json& id, const std::string& token) {
  const auto* number = id.as<uint64_t>();
  expect(number && *number < kMostTokens, ErrorKind::file, "'{}': the id of '{}' is {}", file_, token, id.line());
  if (*number >= tokens_.size()) tokens_.resize(*number + 1);
  std::string& place = tokens_[*number];
  expect(place.empty() || place == token, ErrorKind::file, "'{}': '{}' and '{}' have the same id {}", file_, place,
         token, *number);
  place = token;
}

void TokenTable::read_vocabulary(const Json* vocabulary) {
  const auto* members = vocabulary ? vocabulary->as<Json::Members>() : nullptr;
  expect(members != nullptr, ErrorKind::file, "'{}' has no vocabulary: an object of tokens and ids", file_);
  for (const auto& [token, id] : *members) set(id, token);
}

void TokenTable::read_added(const Json& json) {
  const Json* added = json.find("added_tokens");
  const auto* elements = added ? added->as<Json::Elements>() : nullptr;
  if (!elements) return;
  for (const Json& token : *elements) {
    const Json *id = token.find("id"), *content = token.find("content"), *special = token.find("special");
    expect(id && id->as<uint64_t>() && content && content->as<std::string>(), ErrorKind::file,
           "'{}': one of added_tokens has no id or no content", file_);
    set(*id, *content->as<std::string>());
    special_.insert(static_cast<int64_t>(*id->as<uint64_t>()));
    if (special && special->as<bool>() && *special->as<bool>())
      marked_.insert(static_cast<int64_t>(*id->as<uint64_t>()));
  }
}

}  // namespace heed::imports
