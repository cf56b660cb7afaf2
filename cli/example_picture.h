// A worked example as a picture: the weights of the whole sentence.
#pragma once

#include <string>

#include "cli/worked_example.h"

namespace heed::cli {

/// SVG; empty if the mechanism has no example.
std::string example_picture(const attend::Entry& entry, const ExampleOptions& options);

}  // namespace heed::cli
