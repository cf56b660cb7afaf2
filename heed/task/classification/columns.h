// Which columns of a TSV are texts and which is the label: found in its first lines.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "heed/data/pairs.h"

namespace heed::task {

/// Columns of a TSV, from 1.
struct LabelColumns {
  int64_t text = 0, label = 0;
  int64_t second = 0;  // 0: there is no second text
  int64_t labels = 0;  // different ones, among the first lines
};

/// What is 0 in `files` is found in the first lines: the text is the longest column, the label the one with the fewest
/// different values. A second text is never found here: a recipe names it.
LabelColumns find_columns(const data::PairFiles& files);

/// Where the lines of a file are two texts and a label, as the names of the columns ("premise", "hypothesis";
/// "sentence_A", "sentence_B") or two columns of similar text say. Otherwise `second` is 0.
LabelColumns columns_of_two_texts(const std::filesystem::path& tsv);

/// Why the first lines of a TSV look like texts with labels: "column 2 has 8 different values on 5,000 lines, column 1
/// is text". Empty: they do not.
std::string looks_like_labels(const std::filesystem::path& tsv);

}  // namespace heed::task
