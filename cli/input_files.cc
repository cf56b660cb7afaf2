#include "cli/input_files.h"

#include <algorithm>
#include <utility>

#include "cli/options.h"
#include "heed/base/error.h"

namespace heed::cli {

InputFiles::InputFiles(std::vector<std::string> files) : files_(std::move(files)) {
  if (files_.empty()) files_ = {"-"};
  for (const std::string& file : files_) readable(file);
  if (std::count(files_.begin(), files_.end(), "-") > 1) throw Error("standard input (-) can be read only once");
  std::reverse(files_.begin(), files_.end());
}

std::vector<InputLines::Line> InputFiles::next(size_t most) {
  std::vector<InputLines::Line> lines;
  while (lines.size() < most) {
    if (in_standard_input_) {
      if (!lines.empty()) break;  // answer these before waiting for standard input
      lines = standard_input_.next(most);
      for (InputLines::Line& line : lines) line.number = ++read_;
      if (!lines.empty()) return lines;
      in_standard_input_ = false;
    } else if (std::string text; file_ && file_->next(text)) {
      lines.push_back({std::move(text), ++read_, false});
    } else if (files_.empty()) {
      break;
    } else {
      const std::string file = std::move(files_.back());
      files_.pop_back();
      in_standard_input_ = file == "-";
      file_.reset();
      if (!in_standard_input_) file_.emplace(file);
    }
  }
  return lines;
}

}  // namespace heed::cli
