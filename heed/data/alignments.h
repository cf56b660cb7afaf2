// Given alignments: which tokens of a source a token of the target belongs to. A line for each pair, in the format of
// Pharaoh, as GIZA++, fast_align and `heed predict --alignments` write it:
//
//   0-0 1-2 2-1        source token - target token, both from 0; an empty line: nothing is known
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heed::data {

struct AlignmentPoint {
  int32_t source, target;
};

/// Lists of links in one array.
class AlignmentLists {
 public:
  int64_t size() const { return std::ssize(offsets_) - 1; }
  std::span<const AlignmentPoint> operator[](int64_t i) const {
    const auto first = static_cast<size_t>(offsets_[static_cast<size_t>(i)]);
    return std::span(links_).subspan(first, static_cast<size_t>(offsets_[static_cast<size_t>(i) + 1]) - first);
  }
  /// Sorts them by target and source; what comes twice counts once.
  void add(std::vector<AlignmentPoint> links);

 private:
  std::vector<AlignmentPoint> links_;
  std::vector<int64_t> offsets_{0};
};

/// The lines of a file of alignments. Throws Error with file and line for anything else than links.
class AlignmentFile {
 public:
  explicit AlignmentFile(std::filesystem::path path);

  int64_t lines() const { return lists_.size(); }
  /// Of line `line`, from 1. Throws Error with the line if a link points outside a source of `source` and a target of
  /// `target` of what the numbers count.
  std::span<const AlignmentPoint> checked(int64_t line, int64_t source, int64_t target, std::string_view unit) const;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  AlignmentLists lists_;
};

/// The word that each token belongs to, from 0; -1 for blanks. `tokens`: as from Tokeniser::cut().
std::vector<int32_t> words_of_tokens(std::span<const std::string> tokens);
/// Links of words -> links of all their tokens.
std::vector<AlignmentPoint> points_of_tokens(std::span<const AlignmentPoint> of_words,
                                             std::span<const int32_t> source_words,
                                             std::span<const int32_t> target_words);

}  // namespace heed::data
