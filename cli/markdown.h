// The catalogue as pages: docs/mechanisms.
#pragma once

#include <string>

#include "cli/facts.h"

namespace heed::cli {

std::string page(const Facts& facts);
std::string index_page();

/// Writes NAME.md for every mechanism, and README.md. Creates the folder if needed.
void write_pages(const std::string& folder);

}  // namespace heed::cli
