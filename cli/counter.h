// How many lines are done, for a person: one line on standard error, redrawn in place. Silent if standard error is no
// terminal, or if standard output is one and shows the answers themselves. Of a known total: also which share, and the
// time that is left.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace heed::cli {

class Counter {
 public:
  explicit Counter(std::string what);        // "lines"
  Counter(std::string what, int64_t total);  // whose answers go to files: standard output may be a terminal too
  Counter(const Counter&) = delete;
  Counter& operator=(const Counter&) = delete;
  ~Counter();  // leaves nothing behind

  void add(int64_t count);
  void skip(int64_t count);  // done before, in no time
  void erase();              // call it before writing anything else there

 private:
  using Clock = std::chrono::steady_clock;

  std::string what_;
  bool shown_, there_ = false;
  int64_t count_ = 0, skipped_ = 0, total_ = 0;  // total_ 0: not known
  Clock::time_point begin_, last_;
};

/// "heed: line 3: ..." on standard error.
void warn(const std::string& text);

}  // namespace heed::cli
