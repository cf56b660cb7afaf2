#include "heed/file/manifest.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "heed/tensor/error.h"

namespace heed::file {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kFormat = "heed checkpoint 1";

bool is_letter_or_digit(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

bool is_sha256(const std::string& text) {
  return text.size() == 64 &&
         std::all_of(text.begin(), text.end(), [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

}  // namespace

bool is_part_name(std::string_view name) {
  if (name.empty() || name.size() > 200 || name.front() == '.' || name.front() == '-') return false;
  return std::all_of(name.begin(), name.end(),
                     [](char c) { return is_letter_or_digit(c) || c == '.' || c == '_' || c == '-'; });
}

std::string manifest_text(const std::vector<Part>& parts) {
  Json all = {{"format", kFormat}, {"parts", Json::array()}};
  for (const Part& part : parts)
    all["parts"].push_back({{"name", part.name}, {"size", part.size}, {"sha256", part.sha256}});
  return all.dump(2) + "\n";
}

std::vector<Part> parse_manifest(std::string_view text) {
  // The parser takes a zero byte for the end, and blocks of zeros are what a failing disk gives.
  const Json all = Json::parse(text.substr(0, text.find('\0') == text.npos ? text.size() : 0), nullptr, false);
  expect(all.is_object() && all.contains("format") && all["format"].is_string(), "MANIFEST.json: it is not readable");
  expect(all["format"] == kFormat, "MANIFEST.json: the format is '{}', and this version of heed reads '{}'",
         all["format"].get<std::string>(), kFormat);
  expect(all.size() == 2 && all.contains("parts") && all["parts"].is_array(),
         "MANIFEST.json: it must hold 'format' and the list 'parts'");
  std::vector<Part> parts;
  for (const Json& each : all["parts"]) {
    const bool complete = each.is_object() && each.size() == 3 && each.contains("name") && each["name"].is_string() &&
                          each.contains("size") && each["size"].is_number_unsigned() && each.contains("sha256") &&
                          each["sha256"].is_string() && is_sha256(each["sha256"].get<std::string>());
    expect(complete, "MANIFEST.json: part {} must have a name, a size and a SHA-256", parts.size() + 1);
    Part part{each["name"].get<std::string>(), each["size"].get<uint64_t>(), each["sha256"].get<std::string>()};
    expect(is_part_name(part.name),
           "MANIFEST.json: part {} must have the name of a file, of letters, "
           "digits, '.', '_' and '-'",
           parts.size() + 1);
    expect(std::none_of(parts.begin(), parts.end(), [&](const Part& other) { return other.name == part.name; }),
           "MANIFEST.json: the part '{}' comes twice", part.name);
    parts.push_back(std::move(part));
  }
  return parts;
}

}  // namespace heed::file
