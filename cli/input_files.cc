#include "cli/input_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "cli/options.h"
#include "heed/base/error.h"
#include "heed/sound/sound.h"
#include "heed/view/base64.h"

namespace heed::cli {

InputFiles::InputFiles(std::vector<std::string> files) : files_(std::move(files)) {
  if (files_.empty()) files_ = {"-"};
  for (const std::string& file : files_) readable(file);
  if (std::count(files_.begin(), files_.end(), "-") > 1) throw Error("standard input (-) can be read only once");
  std::reverse(files_.begin(), files_.end());
}

namespace {

/// All of standard input, up to the end.
std::string line_of_pcm(int64_t rate) {
  std::string bytes;
  char some[1 << 16];
  while (const size_t count = std::fread(some, 1, sizeof some, stdin)) {
    bytes.append(some, count);
    if (std::ssize(bytes) > sound::kMostBytes)
      throw Error(ErrorKind::data, fmt::format("standard input has more than {} bytes of PCM", sound::kMostBytes));
  }
  return "data:audio/wav;base64," + view::base64(sound::wav_of(sound::sound_of_pcm(bytes, rate)));
}

}  // namespace

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
      file_.reset();
      if (file == "-" && pcm_rate_ > 0) {
        lines.push_back({line_of_pcm(pcm_rate_), ++read_, false});
        continue;
      }
      in_standard_input_ = file == "-";
      if (in_standard_input_) continue;
      if (is_line_ && is_line_(file))
        lines.push_back({file, ++read_, false});
      else
        file_.emplace(file);
    }
  }
  return lines;
}

}  // namespace heed::cli
