// What sentence-transformers writes beside a model: how its states become one vector.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "heed/task/description.h"

namespace heed::imports {

/// Sets the pool, the length of vectors and the longest text. Returns what was found. Without such files: the mean of
/// the states as it is. Throws for what a model of vectors cannot do.
std::vector<std::pair<const char*, std::string>> read_sentence_vectors(const std::filesystem::path& folder,
                                                                       task::Description& description);

}  // namespace heed::imports
