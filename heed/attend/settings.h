// What the name of a mechanism sets, as options with their values in TOML: what a recipe would say instead of the name.
#pragma once

#include <string>
#include <vector>

#include "heed/attend/entry.h"

namespace heed::attend {

struct Setting {
  std::string name, value;  // "score", "\"additive\""
  std::string as;           // the option that it follows, if any
};

/// A value as recipes and JSON write it: "tanh" in quotes, true, 0.2.
std::string value_text(const std::string& value);
std::string value_text(float value);
std::string value_text(int64_t value);
std::string value_text(bool value);
std::string value_text(const char*) = delete;  // it would be taken for a bool

/// Every option with its value.
std::vector<Setting> values_of(const Options& options);

/// Options that the name changes from their defaults, and options that it sets whatever they were before.
std::vector<Setting> settings_of(const Entry& entry);

}  // namespace heed::attend
