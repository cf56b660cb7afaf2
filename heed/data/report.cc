#include "heed/data/report.h"

#include <fmt/format.h>

#include <numeric>
#include <utility>

namespace heed::data {

std::string_view name_of(Fault fault) {
  switch (fault) {
    case Fault::invalid_utf8:
      return "invalid UTF-8";
    case Fault::columns:
      return "wrong number of columns";
    case Fault::empty:
      return "an empty side";
    case Fault::too_long:
      return "too long";
    case Fault::picture:
      return "an unreadable picture";
    case Fault::sound:
      return "an unreadable recording";
  }
  return "";
}

void Report::drop(Fault fault, int64_t line, std::string detail) {
  ++counts_[static_cast<size_t>(fault)];
  auto& lines = lines_[static_cast<size_t>(fault)];
  if (lines.size() < kNamed) lines.push_back({line, std::move(detail)});
}

void Report::drop_kept(Fault fault, int64_t line, std::string detail) {
  --kept_;
  drop(fault, line, std::move(detail));
}

void Report::leave_out_header(bool was_kept) {
  ++headers_;
  if (was_kept) --kept_;
}

int64_t Report::dropped() const { return std::accumulate(counts_.begin(), counts_.end(), int64_t{0}); }

std::string Report::text() const {
  std::string text;
  for (const std::string& remark : remarks_) text += remark + "\n";
  if (dropped() == 0) return text;
  text += fmt::format("{} of {} lines left out\n", dropped(), dropped() + kept_);
  for (const Fault fault : kFaults) {
    if (count(fault) == 0) continue;
    text += fmt::format("  {} {}:", count(fault), name_of(fault));
    const char* separator = " ";
    for (const Line& line : lines(fault)) {
      text += fmt::format("{}{} ({})", separator, line.number, line.detail);
      separator = ", ";
    }
    text += count(fault) > static_cast<int64_t>(kNamed) ? ", ...\n" : "\n";
  }
  return text;
}

}  // namespace heed::data
