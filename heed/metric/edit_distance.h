// Levenshtein's distance: how many tokens must be replaced, added or removed.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace heed::metric {

struct Edits {
  int64_t substitutions = 0;  // one token of the reference became another
  int64_t insertions = 0;     // the hypothesis has one that the reference has not
  int64_t deletions = 0;      // the reference has one that the hypothesis has not

  int64_t total() const { return substitutions + insertions + deletions; }
  Edits& operator+=(const Edits& other);
  bool operator==(const Edits&) const = default;
};

/// The smallest total, and what it consists of: of ways with the same total, the one with the most substitutions.
/// Time |reference| * edits, memory |reference| + |hypothesis|; up to 2^26 tokens in both together.
Edits edit_distance(std::span<const int32_t> reference, std::span<const int32_t> hypothesis);
Edits edit_distance(std::span<const std::string_view> reference, std::span<const std::string_view> hypothesis);

}  // namespace heed::metric
