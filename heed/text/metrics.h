// How good are hypotheses, where each source has one or several right answers.
//
// hypotheses[i] answers source i, references[i] are its right answers: at least one. The best of them counts: any that
// is equal, or the one with the fewest edits (of equals the first).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "heed/text/edit_distance.h"

namespace heed {

struct Accuracy {
  int64_t right = 0;
  int64_t count = 0;
  double rate() const;  // of nothing: 0
};

/// Edits per token of the references that counted.
struct ErrorRate {
  Edits edits;
  int64_t tokens = 0;
  double rate() const;  // may be above 1; where the references hold no token, 0 without edits and 1 with some
};

/// The hypothesis is equal to a reference, byte for byte. What papers on spelling to sound call word error rate is
/// 1 - rate().
Accuracy exact_match(std::span<const std::string> hypotheses, std::span<const std::vector<std::string>> references);

/// Over what stands between blanks: the word error rate of sentences, the phone error rate of phones.
ErrorRate word_error_rate(std::span<const std::string> hypotheses,
                          std::span<const std::vector<std::string>> references);

/// Over code points.
ErrorRate character_error_rate(std::span<const std::string> hypotheses,
                               std::span<const std::vector<std::string>> references);

using Ids = std::vector<int32_t>;

/// Over ids.
ErrorRate token_error_rate(std::span<const Ids> hypotheses, std::span<const std::vector<Ids>> references);

}  // namespace heed
