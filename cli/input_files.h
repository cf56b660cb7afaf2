// The lines of several files, one file after the other. "-" is standard input; no file at all means "-".
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/input_lines.h"
#include "heed/data/lines.h"

namespace heed::cli {

class InputFiles {
 public:
  /// Throws if one of them does not exist, before anything is read.
  explicit InputFiles(std::vector<std::string> files);

  /// At most `most` lines, from one file or several; none at the end of the last. Line numbers continue from file to
  /// file. Standard input gives the lines that are available, see InputLines.
  std::vector<InputLines::Line> next(size_t most);

 private:
  std::vector<std::string> files_;  // still to be opened, the next one last
  InputLines standard_input_;
  std::optional<data::LineReader> file_;
  bool in_standard_input_ = false;
  int64_t read_ = 0;  // lines so far
};

}  // namespace heed::cli
