// Where the files of a recipe's data are: from the names in a recipe to names that can be opened, and back.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "heed/data/options.h"

namespace heed::recipe {

/// Names that were read from the recipe `file`, or follow --set in `overrides`, become relative to the current folder.
/// What the file says is relative to what data.relative_to says; what follows --set, to the current folder.
void find_data(data::Options& data, std::string_view file, std::span<const std::string> overrides);

/// For a recipe in `folder`: data.folder and data.relative_to say the way from there to the current folder, so that
/// names that are relative to it stay as they are. Returns whether there are any.
bool name_from(const std::filesystem::path& folder, data::Options& data);

}  // namespace heed::recipe
