// Data that is read more than once.
#pragma once

#include "heed/data/options.h"

namespace heed::data {

/// Throws Error if it is a pipe or a device, which can be read only once. A file that does not exist is reported by who
/// reads it.
void expect_plain_file(const std::filesystem::path& path);

/// The same of all files of a training: some are looked at before they are read, and a resumed training reads them
/// again.
void expect_plain_files(const Options& options);

}  // namespace heed::data
