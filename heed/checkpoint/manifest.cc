#include "heed/checkpoint/manifest.h"

#include <algorithm>

#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/base/part_name.h"

namespace heed::file {

namespace {

constexpr std::string_view kFormat = "heed checkpoint 1";
constexpr size_t kMostParts = 1000;  // a checkpoint has seven

bool is_sha256(const std::string& text) {
  return text.size() == 64 &&
         std::all_of(text.begin(), text.end(), [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

}  // namespace

std::string manifest_text(const std::vector<CheckpointPart>& parts) {
  Json all = Json::object({{"format", kFormat}, {"parts", Json::array()}});
  for (const CheckpointPart& part : parts)
    all["parts"].push_back(Json::object({{"name", part.name}, {"size", part.size}, {"sha256", part.sha256}}));
  return all.text(2) + "\n";
}

std::vector<CheckpointPart> parse_manifest(std::string_view text) {
  const std::optional<Json> all = Json::parse(text);
  const Json* format = all ? all->find("format") : nullptr;
  expect(format && format->as<std::string>(), ErrorKind::file, "MANIFEST.json: it is not valid JSON with a 'format'");
  expect(*format->as<std::string>() == kFormat, ErrorKind::file,
         "MANIFEST.json: the format is '{}', and this version of heed reads '{}'", *format->as<std::string>(), kFormat);
  const Json* listed = all->find("parts");
  const auto* elements = listed ? listed->as<Json::Elements>() : nullptr;
  expect(elements && all->as<Json::Members>()->size() == 2, ErrorKind::file,
         "MANIFEST.json: it must hold 'format' and the list 'parts'");
  expect(elements->size() <= kMostParts, ErrorKind::file, "MANIFEST.json: it lists {} parts; at most {} are allowed",
         elements->size(), kMostParts);
  std::vector<CheckpointPart> parts;
  for (const Json& each : *elements) {
    const auto* members = each.as<Json::Members>();
    const Json *name = each.find("name"), *size = each.find("size"), *sha256 = each.find("sha256");
    const bool complete = members && members->size() == 3 && name && name->as<std::string>() && size &&
                          size->as<uint64_t>() && sha256 && sha256->as<std::string>() &&
                          is_sha256(*sha256->as<std::string>());
    expect(complete, ErrorKind::file, "MANIFEST.json: part {} must have a name, a size and a SHA-256",
           parts.size() + 1);
    CheckpointPart part{*name->as<std::string>(), *size->as<uint64_t>(), *sha256->as<std::string>()};
    expect(is_part_name(part.name), ErrorKind::file,
           "MANIFEST.json: part {} must have the name of a file, of letters, "
           "digits, '.', '_' and '-'",
           parts.size() + 1);
    expect(
        std::none_of(parts.begin(), parts.end(), [&](const CheckpointPart& other) { return other.name == part.name; }),
        ErrorKind::file, "MANIFEST.json: the part '{}' appears twice", part.name);
    parts.push_back(std::move(part));
  }
  return parts;
}

}  // namespace heed::file
