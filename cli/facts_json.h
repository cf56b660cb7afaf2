// What the catalogue knows about a mechanism, for programs.
#pragma once

#include "cli/facts.h"
#include "heed/base/json.h"

namespace heed::cli {

file::Json json_of(const Facts& facts);

/// A value as it stands in Facts, which write values as JSON.
file::Json json_value(const std::string& value);

}  // namespace heed::cli
