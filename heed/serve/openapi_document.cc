// The description of the routes: openapi.json, where the options of decoding are added to the requests that take them.
#include <fmt/format.h>

#include <cctype>
#include <optional>
#include <type_traits>
#include <variant>

#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/serve/api.h"
#include "heed/task/decoding_option.h"

namespace heed::serve {

namespace {

using file::Json;
using task::DecodingOption;

constexpr const char* kMark = "x-decoding-options";  // of a schema in openapi.json: they are added to its properties

/// "With sample: ...; 0: all. At most --max-beam of the server."
std::string description_of(const DecodingOption& option) {
  std::string words = option.meaning;
  words[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(words[0])));
  if (option.zero) words += fmt::format("; 0: {}", option.zero);
  words += '.';
  if (option.counted == task::Counted::outputs) words += " At most --max-beam of the server (16).";
  if (option.counted == task::Counted::tokens) words += " At most --max-length of the server, if that is set.";
  return words;
}

/// The members of a number's schema: type, range, default.
template <class Number>
void describe_number(Json& schema, const DecodingOption& option, Number value) {
  constexpr bool kWhole = std::is_integral_v<Number>;
  schema["type"] = kWhole ? "integer" : "number";
  if (std::is_unsigned_v<Number>) {  // a seed: without one, every request draws others
    schema["minimum"] = 0;
    schema["maximum"] = UINT64_MAX;
    return;
  }
  schema["minimum"] = option.zero ? Number{0} : static_cast<Number>(option.least);
  schema["maximum"] =
      static_cast<Number>(option.served_most > 0 ? static_cast<double>(option.served_most) : option.most);
  schema["default"] = value;
}

Json schema_of(const DecodingOption& option) {
  static const predict::Options defaults;
  Json schema = Json::object();
  std::visit(
      [&](auto field) {
        const auto& value = defaults.*field;
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, bool>) {
          schema["type"] = "boolean";
          schema["default"] = value;
        } else if constexpr (std::is_same_v<T, std::string>) {
          schema["type"] = "string";
          schema["default"] = value;
        } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
          schema["oneOf"] =
              Json::array({Json::object({{"type", "string"}}),
                           Json::object({{"type", "array"}, {"items", Json::object({{"type", "string"}})}})});
        } else {
          describe_number(schema, option, value);
        }
      },
      option.field);
  schema["description"] = description_of(option);
  return schema;
}

/// Every option that requests may have, also under the names of other programs.
void add_options(Json& properties) {
  for (const DecodingOption& option : task::decoding_options()) {
    if (option.group == task::DecodingGroup::reranking) continue;
    properties[option.name] = schema_of(option);
    for (const char* other : option.other_names) {
      Json schema = schema_of(option);
      schema["description"] = fmt::format("The same as {}.", option.name);
      properties[other] = std::move(schema);
    }
  }
}

Json with_options(const Json& schema) {
  if (!schema.find(kMark)) return schema;
  Json whole = Json::object();
  for (const auto& [name, member] : *schema.as<Json::Members>()) {
    if (name == kMark) continue;
    whole[name] = member;
    if (name == "properties") add_options(whole[name]);
  }
  return whole;
}

}  // namespace

std::string openapi_document() {
  std::optional<Json> parsed = Json::parse(openapi_json());
  expect(parsed.has_value(), ErrorKind::bug, "openapi.json is not JSON");
  Json& schemas = (*parsed)["components"]["schemas"];
  const Json before = schemas;
  for (const auto& [name, schema] : *before.as<Json::Members>()) schemas[name] = with_options(schema);
  return parsed->text(2) + "\n";
}

}  // namespace heed::serve
