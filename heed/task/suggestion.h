// Values that fit the data, for keys that a recipe leaves open.
#pragma once

#include <set>
#include <string>

#include "heed/attend/options.h"

namespace heed::task {

struct Suggestion {
  std::string key;    // "train.warmup"
  std::string value;  // as --set takes it
  std::string why;    // a few words for the user; empty if the key before it explains it
};

using OpenKeys = std::set<std::string>;

/// Nothing was said about the attention.
bool is_untouched(const attend::Options& attention);

}  // namespace heed::task
