// Which lines of the data were left out, and why.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heed::data {

enum class Fault { invalid_utf8, columns, empty, too_long, picture, sound };
inline constexpr std::array<Fault, 6> kFaults = {Fault::invalid_utf8, Fault::columns, Fault::empty,
                                                 Fault::too_long,     Fault::picture, Fault::sound};

/// "invalid UTF-8", "wrong number of columns", "an empty side", "too long", "an unreadable picture",
/// "an unreadable recording".
std::string_view name_of(Fault fault);

/// Threads: one at a time.
class Report {
 public:
  static constexpr size_t kNamed = 10;  // lines of a kind that are listed; the others are only counted

  struct Line {
    int64_t number;      // in the file, from 1
    std::string detail;  // "source, byte 17"
  };

  void keep() { ++kept_; }
  void drop(Fault fault, int64_t line, std::string detail);
  void drop_kept(Fault fault, int64_t line, std::string detail);  // a line that was already counted as kept

  /// The first line names the columns, and is no data; `was_kept`: it was counted as kept.
  void leave_out_header(bool was_kept);
  void remark(std::string remark) { remarks_.push_back(std::move(remark)); }  // a sentence for text()

  int64_t kept() const { return kept_; }
  int64_t headers() const { return headers_; }
  int64_t dropped() const;
  int64_t count(Fault fault) const { return counts_[static_cast<size_t>(fault)]; }
  const std::vector<Line>& lines(Fault fault) const { return lines_[static_cast<size_t>(fault)]; }  // the first ones

  /// The remarks, then "3 of 1000 lines left out", and a line for each kind: "  2 invalid UTF-8: 17 (source, byte 4),
  /// 99 (target, byte 1)". Empty if there is nothing to say.
  std::string text() const;

 private:
  int64_t kept_ = 0, headers_ = 0;
  std::vector<std::string> remarks_;
  std::array<int64_t, kFaults.size()> counts_{};
  std::array<std::vector<Line>, kFaults.size()> lines_;
};

}  // namespace heed::data
