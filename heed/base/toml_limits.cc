#include "heed/base/toml_limits.h"

#include <fmt/format.h>

#include <algorithm>

namespace heed::file {

namespace {

/// Goes through a text once. It knows what is inside of texts and comments, and counts the rest.
class Counter {
 public:
  Counter(std::string_view toml, const TomlLimits& limits) : toml_(toml), limits_(limits) {}

  std::optional<TomlExcess> run() {
    while (at_ < toml_.size() && !excess_) step();
    return excess_;
  }

 private:
  void step() {
    const char c = toml_[at_];
    switch (c) {
      case '"':
      case '\'':
        return skip_text(c);
      case '#':
        at_ = std::min(toml_.find('\n', at_), toml_.size());
        return;
      case '\n':
        if (depth_ == 0) in_value_ = false;
        ++line_;
        return restart();
      case '.':
        expect(++parts_ <= limits_.parts, "a key of more than {} parts", limits_.parts);
        break;
      case '=':
        expect(bytes() <= limits_.key_bytes, "a key of more than {} bytes", limits_.key_bytes);
        expect(++keys_ <= limits_.keys, "more than {} keys", limits_.keys);
        expect(++values_ <= limits_.values, "more than {} values", limits_.values);
        in_value_ = true;
        return restart();
      case '[':
      case '{':
        // A header: [section]. It is counted as a key, and ends with its line.
        if (!in_value_) expect(++keys_ <= limits_.keys, "more than {} keys", limits_.keys);
        expect(++depth_ <= limits_.depth, "lists or tables inside each other, more than {} levels", limits_.depth);
        return restart();
      case ']':
      case '}':
        if (!in_value_) expect(bytes() <= limits_.key_bytes, "a key of more than {} bytes", limits_.key_bytes);
        depth_ = std::max<int64_t>(depth_ - 1, 0);
        return restart();
      case ',':
        expect(++values_ <= limits_.values, "more than {} values", limits_.values);
        return restart();
      default:
        break;
    }
    ++at_;
  }

  /// Behind the character here, a key or value may begin.
  void restart() {
    begin_ = ++at_;
    parts_ = 1;
  }
  int64_t bytes() const { return static_cast<int64_t>(at_ - begin_); }

  /// "...", '...', and those of several lines: """...""", '''...'''.
  void skip_text(char quote) {
    const std::string three(3, quote);
    const bool many_lines = toml_.substr(at_).starts_with(three);
    at_ += many_lines ? 3 : 1;
    for (; at_ < toml_.size(); ++at_) {
      const char c = toml_[at_];
      if (c == '\n') {
        if (!many_lines) return;  // it was never closed, which the parser says
        ++line_;
      } else if (c == '\\' && quote == '"') {
        if (at_ + 1 < toml_.size() && toml_[at_ + 1] != '\n') ++at_;
      } else if (c == quote && (!many_lines || toml_.substr(at_).starts_with(three))) {
        at_ += many_lines ? 3 : 1;
        // Up to two quotes before the last three belong to the text: """a"""""
        for (int more = 0; many_lines && more < 2 && at_ < toml_.size() && toml_[at_] == quote; ++more) ++at_;
        return;
      }
    }
  }

  void expect(bool good, fmt::format_string<const int64_t&> what, const int64_t& limit) {
    if (!good && !excess_) excess_ = {line_, fmt::format(what, limit)};
  }

  std::string_view toml_;
  const TomlLimits& limits_;
  size_t at_ = 0, begin_ = 0;
  int64_t line_ = 1, parts_ = 1, depth_ = 0, keys_ = 0, values_ = 0;
  bool in_value_ = false;
  std::optional<TomlExcess> excess_;
};

}  // namespace

std::optional<TomlExcess> excess_of(std::string_view toml, const TomlLimits& limits) {
  return Counter(toml, limits).run();
}

}  // namespace heed::file
