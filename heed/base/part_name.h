// Names of the parts of a checkpoint.
#pragma once

#include <string_view>

namespace heed::file {

/// A name that can only refer to a file in the same folder: letters, digits, '.', '_' and '-'.
bool is_part_name(std::string_view name);

}  // namespace heed::file
