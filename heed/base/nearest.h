// Finds the known name that a mistyped one was meant to be.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace heed {

/// The name with the smallest edit distance to `name`, the first one in a tie; empty if there are none.
std::string nearest(std::string_view name, std::span<const std::string> names);

/// "there is no encoder 'transfomer'; did you mean 'transformer'? There are: recurrent, transformer"
std::string unknown_name(std::string_view what, std::string_view name, std::span<const std::string> names);

/// Throws Error with that message if `name` is none of `names`.
void expect_known(std::string_view what, std::string_view name, std::span<const std::string> names);

}  // namespace heed
