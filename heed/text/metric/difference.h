// What is wrong with an output, so that a person sees it at once.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heed::metric {

/// A run of letters that both texts have, or what stands in one in place of what stands in the other.
struct DifferencePart {
  std::string same;      // in both; then the others are empty
  std::string too_much;  // in the output alone
  std::string missing;   // in the reference alone

  bool operator==(const DifferencePart&) const = default;
};

/// From the first letter to the last, with the fewest edits. A letter is what a reader sees as one
/// (heed/text/graphemes.h): no mark is torn from its base. Nothing for two empty texts.
///
/// Where both texts are very long and very different, which would take seconds, all between their common beginning and
/// their common end is one part.
std::vector<DifferencePart> difference_of(std::string_view output, std::string_view reference);

/// The same as one line of text, marked as `git diff --word-diff` does: [-too much-] and {+missing+}.
///
///   marked_difference("the cat sit", "the cats sat")   "the cat{+s+} s[-i-]{+a+}t"
///
/// Equal texts come back as they are. There are no colours in it, and it is in the order of the texts: a line from
/// right to left stays one, with its marks in their places.
std::string marked_difference(std::string_view output, std::string_view reference);

/// How many letters must be replaced, added or removed.
int64_t letter_edits(std::string_view output, std::string_view reference);

}  // namespace heed::metric
