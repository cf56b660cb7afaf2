#include "heed/base/json_text.h"

#include <nlohmann/json.hpp>

namespace heed::file {

std::optional<std::string> json_text(const std::string& text) {
  try {
    std::string quoted = nlohmann::json(text).dump();
    // TOML wants this one escaped too.
    for (size_t at = 0; (at = quoted.find('\x7f', at)) != std::string::npos;) quoted.replace(at, 1, "\\u007f");
    return quoted;
  } catch (const nlohmann::json::exception&) {
    return {};
  }
}

}  // namespace heed::file
