// Pages of heed explain: one self-contained HTML file for each name.
#pragma once

#include <string>

#include "cli/facts.h"
#include "cli/model_catalogue.h"
#include "cli/worked_example.h"
#include "heed/base/json.h"

namespace heed::cli {

/// The facts of a mechanism and its example, for programs, and for the page's own script.
file::Json explained_json(const Facts& facts, const WorkedExample& example);

/// With sliders, where the page can compute the mechanism itself.
std::string explained_html(const Facts& facts, const ExampleOptions& asked);
std::string explained_html(const ModelPage& page);

}  // namespace heed::cli
