// The lines of a file that holds a tokeniser, one after the other, each with its number for messages.
#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "heed/base/error.h"

namespace heed::text {

class LinesOf {
 public:
  /// Of `contents`, which must outlive this; `name` is for the messages.
  LinesOf(std::string_view contents, std::string_view name) : rest_(contents), name_(name) {}

  bool done() const { return rest_.empty(); }
  /// "vocabulary.txt, line 3": of the line that was read last.
  std::string where() const { return fmt::format("{}, line {}", name_, number_); }

  /// Throws if there is none, or none with a newline at its end.
  std::string_view next() {
    ++number_;
    const size_t end = rest_.find('\n');
    need(end != std::string_view::npos, "there is no line with a newline at its end; is the file cut off?");
    const std::string_view line = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return line;
  }
  /// "NAME=NUMBER" behind a blank at the beginning of what is left of a line, which is removed from it.
  int32_t take_number(std::string_view& rest, std::string_view name) const {
    const std::string start = fmt::format(" {}=", name);
    int32_t number = -1;
    if (rest.starts_with(start)) {
      rest.remove_prefix(start.size());
      const auto [stopped, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
      if (error != std::errc()) number = -1;
      rest.remove_prefix(static_cast<size_t>(stopped - rest.data()));
    }
    need(number >= 0, "expected '{}=' and a number", name);
    return number;
  }
  /// Throws an Error about the line that was read last, unless the condition holds.
  template <class... Args>
  void need(bool condition, fmt::format_string<Args...> what, Args&&... args) const {
    if (!condition) throw Error(ErrorKind::file, where() + ": " + fmt::format(what, std::forward<Args>(args)...));
  }

 private:
  std::string_view rest_, name_;
  int64_t number_ = 0;
};

}  // namespace heed::text
