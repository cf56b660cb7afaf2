#include "cli/counter.h"

#include <fmt/format.h>
#include <unistd.h>

#include <utility>

#include "cli/progress.h"
#include "cli/terminal.h"

namespace heed::cli {

Counter::Counter(std::string what)
    : what_(std::move(what)),
      shown_(isatty(STDERR_FILENO) != 0 && isatty(STDOUT_FILENO) == 0),
      begin_(Clock::now()),
      last_(begin_) {}

Counter::~Counter() { erase(); }

void Counter::erase() {
  if (there_) note("\r\033[K");
  there_ = false;
}

void Counter::add(int64_t count) {
  count_ += count;
  const Clock::time_point now = Clock::now();
  if (!shown_ || (there_ && now - last_ < std::chrono::milliseconds(100))) return;
  last_ = now;
  const double seconds = std::chrono::duration<double>(now - begin_).count();
  note(fmt::format("\r{} {}, {:.0f} a second\033[K", grouped(count_), what_,
                   static_cast<double>(count_) / std::max(seconds, 1e-3)));
  there_ = true;
}

void warn(const std::string& text) { note(fmt::format("heed: {}\n", text)); }

}  // namespace heed::cli
