// The lines of some files, one file after the other; "-" is standard input, and so is no file at all.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/input_lines.h"
#include "heed/data/lines.h"

namespace heed::cli {

class InputFiles {
 public:
  /// Throws where one of them is not there, before anything is read.
  explicit InputFiles(std::vector<std::string> files);

  /// `most` lines at most, of one file or of several; none at the end of the last. Their numbers run on from file to
  /// file. Of standard input those that are there, as InputLines says.
  std::vector<InputLines::Line> next(size_t most);

 private:
  std::vector<std::string> files_;  // still to be opened, the next one last
  InputLines standard_input_;
  std::optional<data::LineReader> file_;
  bool in_standard_input_ = false;
  int64_t read_ = 0;  // lines of all
};

}  // namespace heed::cli
