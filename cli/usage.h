// How a program uses a mechanism: the lines that the pages show.
#pragma once

#include <string>

#include "cli/facts.h"

namespace heed::cli {

std::string cpp_usage(const Facts& facts);
std::string python_usage(const Facts& facts);

}  // namespace heed::cli
