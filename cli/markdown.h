// The catalogue as pages: docs/mechanisms.
#pragma once

#include <string>

#include "cli/facts.h"
#include "cli/model_catalogue.h"

namespace heed::cli {

std::string page(const Facts& facts);
std::string index_page();

std::string page(const ModelPage& model);

/// Writes NAME.md and NAME.svg for every mechanism, and README.md. Creates the folder if needed.
void write_pages(const std::string& folder);

/// The same for the models: NAME.md and README.md.
void write_model_pages(const std::string& folder);

}  // namespace heed::cli
