// The lines of several files, one file after the other. "-" is standard input; no file at all means "-".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/input_lines.h"
#include "heed/data/lines.h"

namespace heed::cli {

class InputFiles {
 public:
  /// Throws if one of them does not exist, before anything is read.
  explicit InputFiles(std::vector<std::string> files);

  /// What is asked about is files that are no text: one that is called so is a line, its name, and not read here.
  void take_names(bool (*is_one)(std::string_view name)) { is_line_ = is_one; }
  /// Standard input is one recording, 16-bit PCM of this rate: a line with the recording inside.
  void take_pcm(int64_t rate) { pcm_rate_ = rate; }

  /// At most `most` lines, from one file or several; none at the end of the last. Line numbers continue from file to
  /// file. Standard input gives the lines that are available, see InputLines.
  std::vector<InputLines::Line> next(size_t most);

 private:
  std::vector<std::string> files_;  // still to be opened, the next one last
  InputLines standard_input_;
  std::optional<data::LineReader> file_;
  bool in_standard_input_ = false;
  int64_t read_ = 0;  // lines so far
  bool (*is_line_)(std::string_view name) = nullptr;
  int64_t pcm_rate_ = 0;  // 0: standard input is text
};

}  // namespace heed::cli
