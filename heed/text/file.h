// Reading and writing small files as a whole.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace heed::text {

/// All bytes of a file. Throws Error with the file's name and the reason.
std::string read_file(const std::filesystem::path& path);

/// Writes a temporary file and renames it: readers see the old contents or the new, never a part. The folder must
/// exist.
void write_file(const std::filesystem::path& path, std::string_view contents);

}  // namespace heed::text
