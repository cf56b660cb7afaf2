// Levenshtein distance: how many tokens must be replaced, added or removed.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace heed::metric {

struct Edits {
  int64_t substitutions = 0;  // one token of the reference became another
  int64_t insertions = 0;     // a token only in the hypothesis
  int64_t deletions = 0;      // a token only in the reference

  int64_t total() const { return substitutions + insertions + deletions; }
  Edits& operator+=(const Edits& other);
  bool operator==(const Edits&) const = default;
};

/// The smallest total, and what it consists of; in a tie, the one with the most substitutions. Time |reference| *
/// edits, memory |reference| + |hypothesis|; up to 2^26 tokens in both together.
Edits edit_distance(std::span<const int32_t> reference, std::span<const int32_t> hypothesis);
Edits edit_distance(std::span<const std::string_view> reference, std::span<const std::string_view> hypothesis);

}  // namespace heed::metric
