#include "heed/attend/settings.h"

#include <fmt/format.h>

#include <type_traits>

#include "heed/attend/all.h"

namespace heed::attend {

namespace {

/// Options that all differ from their defaults.
Options unlike_default() {
  Options o;
  each_option(o, [](const char*, auto& field) {
    using Field = std::decay_t<decltype(field)>;
    if constexpr (std::is_same_v<Field, std::string>)
      field.push_back('?');
    else if constexpr (std::is_same_v<Field, bool>)
      field = !field;
    else
      field += 100;
  });
  return o;
}

}  // namespace

std::string value_text(const std::string& value) { return '"' + value + '"'; }
std::string value_text(int64_t value) { return fmt::format("{}", value); }
std::string value_text(bool value) { return value ? "true" : "false"; }
std::string value_text(float value) {
  const std::string digits = fmt::format("{}", value);
  return digits.find_first_of(".e") == std::string::npos ? digits + ".0" : digits;
}

std::vector<Setting> values_of(const Options& options) {
  std::vector<Setting> all;
  each_option(options, [&](const char* name, const auto& field) { all.push_back({name, value_text(field), ""}); });
  return all;
}

std::vector<Setting> settings_of(const Entry& entry) {
  const std::vector<Setting> defaults = values_of({}), other = values_of(unlike_default());
  Options small, large;
  small.key_width = 8;
  large.key_width = 9;
  const std::vector<Setting> from_default = values_of(options_of(entry.name, small));
  const std::vector<Setting> from_large = values_of(options_of(entry.name, large));
  const std::vector<Setting> from_other = values_of(options_of(entry.name, unlike_default()));
  std::vector<Setting> settings;
  for (size_t n = 0; n < defaults.size(); ++n) {
    if (defaults[n].name == "key_width") continue;
    const bool changes = from_default[n].value != defaults[n].value, sets = from_other[n].value != other[n].value;
    if (!changes && !sets) continue;
    settings.push_back(from_default[n]);
    if (from_large[n].value != from_default[n].value) settings.back().as = "key_width";
  }
  return settings;
}

}  // namespace heed::attend
