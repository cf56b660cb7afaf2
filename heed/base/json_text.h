// A text in quotes, as JSON and TOML have it.
#pragma once

#include <optional>
#include <string>

namespace heed::file {

/// With everything escaped that needs it; none where the text is not valid UTF-8.
std::optional<std::string> json_text(const std::string& text);

}  // namespace heed::file
