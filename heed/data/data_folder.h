// Which folder the names of a recipe's data are relative to.
#pragma once

#include <filesystem>

namespace heed::data {

/// Absolute and without links, so that a folder has one name however it is reached.
std::filesystem::path real_folder(const std::filesystem::path& folder);

/// data.folder of the recipe `file`, as data.relative_to = "recipe" means it: seen from the current folder.
std::filesystem::path folder_beside(const std::filesystem::path& file, const std::filesystem::path& folder);

}  // namespace heed::data
