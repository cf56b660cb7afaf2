#include "cli/counter.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

#include "cli/progress.h"

namespace heed::cli {

Counter::Counter(std::string what)
    : what_(std::move(what)),
      shown_(isatty(STDERR_FILENO) != 0 && isatty(STDOUT_FILENO) == 0),
      begin_(Clock::now()),
      last_(begin_) {}

Counter::~Counter() { erase(); }

void Counter::erase() {
  if (there_) fmt::print(stderr, "\r\033[K");
  std::fflush(stderr);
  there_ = false;
}

void Counter::add(int64_t count) {
  count_ += count;
  const Clock::time_point now = Clock::now();
  if (!shown_ || (there_ && now - last_ < std::chrono::milliseconds(100))) return;
  last_ = now;
  const double seconds = std::chrono::duration<double>(now - begin_).count();
  fmt::print(stderr, "\r{} {}, {:.0f} a second\033[K", grouped(count_), what_,
             static_cast<double>(count_) / std::max(seconds, 1e-3));
  std::fflush(stderr);
  there_ = true;
}

void warn(const std::string& text) { fmt::print(stderr, "heed: {}\n", text); }

}  // namespace heed::cli
