#include "cli/counter.h"

#include <fmt/format.h>
#include <unistd.h>

#include <utility>

#include "cli/order.h"
#include "cli/progress.h"
#include "cli/terminal.h"

namespace heed::cli {

Counter::Counter(std::string what)
    : what_(std::move(what)),
      shown_(isatty(STDERR_FILENO) != 0 && isatty(STDOUT_FILENO) == 0),
      begin_(Clock::now()),
      last_(begin_) {}

Counter::Counter(std::string what, int64_t total) : Counter(std::move(what)) {
  total_ = total;
  shown_ = isatty(STDERR_FILENO) != 0;
}

Counter::~Counter() { erase(); }

void Counter::erase() {
  if (there_) note(order("\r\033[K"));
  there_ = false;
}

void Counter::add(int64_t count) {
  count_ += count;
  const Clock::time_point now = Clock::now();
  if (!shown_ || (there_ && now - last_ < std::chrono::milliseconds(100))) return;
  last_ = now;
  const double seconds = std::chrono::duration<double>(now - begin_).count();
  const double speed = static_cast<double>(count_ - skipped_) / std::max(seconds, 1e-3);
  std::string text = fmt::format("{} {}, {:.0f} a second", grouped(count_), what_, speed);
  if (total_ > 0)
    text = fmt::format("{:3} %  {} of {} {}, {:.0f} a second, {} left", 100 * count_ / total_, grouped(count_),
                       grouped(total_), what_, speed,
                       duration_text(static_cast<double>(total_ - count_) / std::max(speed, 1e-3)));
  note(order("\r") + text + order("\033[K"));
  there_ = true;
}

void Counter::skip(int64_t count) {
  count_ += count;
  skipped_ += count;
}

void warn(const std::string& text) { note(fmt::format("heed: {}\n", text)); }

}  // namespace heed::cli
