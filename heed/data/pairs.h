// Pairs of source and target, from files. A line that cannot be used is left out on both sides, named and counted: the
// pairs never shift against each other.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heed/data/report.h"

namespace heed::data {

struct PairFiles {
  std::filesystem::path source = {};  // two files, line n belongs to line n; each may be gzip
  std::filesystem::path target = {};
  std::filesystem::path tsv = {};  // or one, with columns separated by tabs
  int64_t source_column = 1;       // of the TSV, from 1
  int64_t target_column = 2;
  int64_t second_column = 0;  // above 0: a source is two texts, with a tab between them
  std::optional<bool> header =
      {};                      // the first line names the columns, and is no pair; nothing: if it looks so (header.h)
  int64_t columns = 0;         // every line has exactly this many; 0: at least those that are used
  int64_t max_characters = 0;  // a longer side (in code points) is too long; 0: no limit. For tokens: encode_pairs()
  /// A column that names a picture or a recording, beside the TSV: it is the source, or, where there is a source_column
  /// too, comes before that and a tab (picture_source.h). 0: none. Then `tsv` may be a folder of such files, too:
  /// labelled_folder.h.
  int64_t picture_column = 0;
  /// Above 0: `tsv` holds dialogues, and a source is up to so many turns before its target (dialogue.h).
  int64_t turns = 0;
};

struct Pairs {
  std::vector<std::string> source, target;  // as in the file, without the end of the line
  std::vector<int64_t> line;                // their number in the file, from 1

  int64_t size() const { return static_cast<int64_t>(line.size()); }
  void add(std::string_view new_source, std::string_view new_target, int64_t number);
};

/// A header that was found, and left out, is told in the report. Throws Error if a file cannot be read (see
/// LineReader), if the two files differ in their number of lines, or if no usable line is left.
Pairs read_pairs(const PairFiles& files, Report& report);

/// The columns of a line of a TSV: parts of it.
std::vector<std::string_view> columns_of(std::string_view line);

/// The sentences of one side or of both, for Tokeniser::train(). They live as long as the pairs.
enum class Side { source, target, both };
std::vector<std::string_view> sentences(const Pairs& pairs, Side side);

/// Each source once, in the order of its first line, with all its different targets in the order of theirs.
struct References {
  std::vector<std::string> source;
  std::vector<std::vector<std::string>> targets;
  std::vector<int64_t> line;  // the first
};
References group_references(const Pairs& pairs);
/// Each line alone, even where a source occurs again: for labels, which are counted text by text.
References separate_references(Pairs pairs);

}  // namespace heed::data
