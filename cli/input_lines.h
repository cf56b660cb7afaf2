// Standard input, line by line as it comes: available lines are answered before waiting for more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace heed::cli {

class InputLines {
 public:
  struct Line {
    std::string text;
    int64_t number = 0;    // from 1
    bool cut_off = false;  // longer than kLongest bytes, so not text; `text` is empty
  };

  /// Waits for a line, then takes the available ones, at most `most`. None at the end of the input, or if nobody reads
  /// standard output any more.
  std::vector<Line> next(size_t most);

  static constexpr size_t kLongest = size_t{64} << 20;  // bytes, as in files (heed/data/lines.h)

 private:
  bool wait(int milliseconds) const;
  void read_some();
  void take_lines(std::vector<Line>& lines, size_t most);
  void finish(std::vector<Line>& lines, std::string text);

  std::string rest_;       // bytes read
  size_t begin_ = 0;       // of the bytes not yet returned
  size_t searched_ = 0;    // no newline before this
  bool skipping_ = false;  // inside a line that is too long
  bool finished_ = false;
  int64_t number_ = 0;
};

}  // namespace heed::cli
