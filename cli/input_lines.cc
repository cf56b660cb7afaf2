#include "cli/input_lines.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "heed/base/error.h"

namespace heed::cli {

namespace {
constexpr size_t kPiece = size_t{1} << 16;
constexpr int kForever = -1;
/// Milliseconds. Lines that follow each other faster than this are answered together.
constexpr int kPatience = 2;
}  // namespace

std::vector<InputLines::Line> InputLines::next(size_t most) {
  std::vector<Line> lines;
  take_lines(lines, most);
  while (lines.size() < most && !finished_ && wait(lines.empty() ? kForever : kPatience)) {
    read_some();
    take_lines(lines, most);
  }
  return lines;
}

/// True if there is something to read, or the end of the input. Standard output is watched too: if its reader goes
/// away, the program ends even if no more input comes.
bool InputLines::wait(int milliseconds) const {
  pollfd both[] = {{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0},
                   {.fd = STDOUT_FILENO, .events = 0, .revents = 0}};
  int ready = 0;
  do {
    ready = poll(both, 2, milliseconds);
  } while (ready < 0 && errno == EINTR);
  return ready > 0 && (both[1].revents & POLLERR) == 0;
}

void InputLines::read_some() {
  rest_.erase(0, begin_);
  searched_ -= begin_;
  begin_ = 0;
  const size_t before = rest_.size();
  rest_.resize(before + kPiece);
  ssize_t count = 0;
  do {
    count = read(STDIN_FILENO, rest_.data() + before, kPiece);
  } while (count < 0 && errno == EINTR);
  const int reason = errno;
  rest_.resize(before + static_cast<size_t>(std::max<ssize_t>(count, 0)));
  if (count < 0 && reason != EAGAIN)
    throw Error(ErrorKind::missing, fmt::format("standard input cannot be read: {}", std::strerror(reason)));
  finished_ = count == 0;
}

void InputLines::take_lines(std::vector<Line>& lines, size_t most) {
  while (lines.size() < most) {
    const size_t newline = rest_.find('\n', searched_);
    if (newline != std::string::npos) {
      finish(lines, rest_.substr(begin_, newline - begin_));
      begin_ = searched_ = newline + 1;
      continue;
    }
    searched_ = rest_.size();
    if (searched_ - begin_ > kLongest) {
      skipping_ = true;
      begin_ = searched_;
    }
    if (finished_ && (begin_ < rest_.size() || skipping_)) {  // the last line may end with the input
      finish(lines, rest_.substr(begin_));
      begin_ = rest_.size();
    }
    return;
  }
}

void InputLines::finish(std::vector<Line>& lines, std::string text) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (!text.empty() && text.back() == '\r') text.pop_back();
  if (number_ == 0 && text.starts_with(kByteOrderMark)) text.erase(0, kByteOrderMark.size());
  const bool cut_off = skipping_ || text.size() > kLongest;
  if (cut_off) text.clear();
  lines.push_back({std::move(text), ++number_, cut_off});
  skipping_ = false;
}

}  // namespace heed::cli
