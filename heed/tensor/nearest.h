// Which known name a mistyped one was meant to be.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace heed {

/// The name with the smallest edit distance to `name`, the first of equals; empty where there are none.
std::string nearest(std::string_view name, std::span<const std::string> names);

}  // namespace heed
