#include "cli/terminal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "cli/columns.h"
#include "cli/exit_code.h"
#include "cli/order.h"

namespace heed::cli {

namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

constexpr size_t kNarrowest = 40;  // below this a table is not worth folding

}  // namespace

Terminal::Terminal() {
  const bool terminal = isatty(STDOUT_FILENO) != 0;
  interactive_ = terminal && environment("TERM") != "dumb";
  colour_ = interactive_ && environment("NO_COLOR").empty();
  winsize size{};
  const bool known = terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0;
  if (known && size.ws_row > 0) height_ = size.ws_row;
  if (const std::string columns = environment("COLUMNS"); !columns.empty())
    width_ = std::strtoul(columns.c_str(), nullptr, 10);
  else if (known && size.ws_col > 0)
    width_ = size.ws_col;
  if (width_ == 0) width_ = 80;
  width_ = std::max(width_, kNarrowest);
}

Terminal Terminal::plain() {
  Terminal file;
  file.interactive_ = file.colour_ = false;
  return file;
}

std::string Terminal::painted(std::string_view text, const char* code) const {
  return colour_ ? order(fmt::format("\033[{}m", code)) + std::string(text) + order("\033[0m") : std::string(text);
}

std::vector<std::string> wrap(std::string_view text, size_t width) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const size_t newline = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, newline);
    text.remove_prefix(std::min(newline + 1, text.size()));
    if (line.empty()) lines.emplace_back();
    while (!line.empty()) {
      size_t end = line.size();
      if (end > width) {
        end = line.rfind(' ', width);
        if (end == std::string_view::npos || end == 0) end = std::min(line.find(' ', 1), line.size());
      }
      lines.emplace_back(line.substr(0, end));
      line.remove_prefix(end);
      line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    }
  }
  return lines;
}

std::string paragraph(std::string_view text, size_t indent, size_t width) {
  std::string all;
  for (const std::string& line : wrap(text, width - indent))
    all += (line.empty() ? "" : std::string(indent, ' ') + line) + "\n";
  return all;
}

std::string table(const std::vector<Row>& rows, const Terminal& terminal, size_t strong, size_t indent) {
  if (rows.empty()) return "";
  const size_t last = rows.front().size() - 1;
  std::vector<size_t> widths(last, 0);
  for (const Row& row : rows)
    for (size_t c = 0; c < last; ++c) widths[c] = std::max(widths[c], columns_of(row[c]));
  size_t before = indent;
  for (size_t w : widths) before += w + 2;
  const size_t left = terminal.width() > before + kNarrowest / 2 ? terminal.width() - before : kNarrowest / 2;
  std::string all;
  for (const Row& row : rows) {
    all += std::string(indent, ' ');
    for (size_t c = 0; c < last; ++c) {
      all += c == strong ? terminal.bold(row[c]) : row[c];
      all += std::string(widths[c] - columns_of(row[c]) + 2, ' ');
    }
    const std::vector<std::string> lines = wrap(row[last], left);
    for (size_t n = 0; n < lines.size(); ++n) {
      if (n > 0) all.append(1, '\n').append(before, ' ');
      all += lines[n];
    }
    all.erase(all.find_last_not_of(' ') + 1);
    all += "\n";
  }
  return all;
}

namespace {
bool gone = false;
}  // namespace

bool reader_is_gone() { return gone; }

void print(std::string_view text) {
  if (gone) return;
  static const bool terminal = isatty(STDOUT_FILENO) != 0;
  const std::string written = with_orders(text, terminal);
  errno = 0;
  if (std::fwrite(written.data(), 1, written.size(), stdout) == written.size() && std::fflush(stdout) == 0) return;
  if (errno != EPIPE)
    throw OutputFailure(fmt::format("standard output could not be written: {}", std::strerror(errno)));
  gone = true;
}

void note(std::string_view text) {
  const std::string written = with_orders(text, /*visible=*/true);
  std::fwrite(written.data(), 1, written.size(), stderr);
  std::fflush(stderr);
}

void occupy_standard_streams() {
  // In the order of their numbers: open() takes the lowest free one.
  for (const auto& [stream, mode] :
       {std::pair(STDIN_FILENO, O_WRONLY), std::pair(STDOUT_FILENO, O_RDONLY), std::pair(STDERR_FILENO, O_WRONLY)})
    if (fcntl(stream, F_GETFD) < 0) open("/dev/null", mode);
}

}  // namespace heed::cli
