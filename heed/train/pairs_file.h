// Data that a program or Python holds, as the file that a training reads: a resumed training finds it again.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "heed/task/prediction.h"

namespace heed::train {

/// Writes them to `folder`/`name`.tsv ("pairs", "valid pairs": valid_pairs.tsv) and returns its path. A file that holds
/// them already stays as it is. Throws Error if there are none, or if a side is more than one line or has a tab;
/// SaveError if the file cannot be written.
std::filesystem::path write_pairs(std::span<const task::TextPair> pairs, const std::filesystem::path& folder,
                                  std::string_view name);
/// The same of running text: `folder`/`name`.txt.
std::filesystem::path write_text(const std::string& text, const std::filesystem::path& folder, std::string_view name);

}  // namespace heed::train
