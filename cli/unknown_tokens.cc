#include "cli/unknown_tokens.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unicode/uchar.h>
#include <unicode/unistr.h>

#include <algorithm>
#include <vector>

namespace heed::cli {

namespace {

constexpr size_t kNamed = 10;           // kinds that the message lists
constexpr size_t kMostKinds = 100'000;  // kept in memory, however long the input

/// The token, or its code points if it would not be visible: blanks, control characters, a mark without a letter.
std::string visible(const std::string& token) {
  const auto text = icu::UnicodeString::fromUTF8(token);
  bool seen = text.length() > 0;
  for (int32_t i = 0; i < text.length(); i = text.moveIndex32(i, 1)) {
    const UChar32 c = text.char32At(i);
    const bool mark = (U_GET_GC_MASK(c) & U_GC_M_MASK) != 0;
    seen = seen && u_isgraph(c) && !(mark && i == 0);
  }
  if (seen) return token;
  std::vector<std::string> numbers;
  for (int32_t i = 0; i < text.length(); i = text.moveIndex32(i, 1))
    numbers.push_back(fmt::format("U+{:04X}", static_cast<uint32_t>(text.char32At(i))));
  return fmt::format("{}", fmt::join(numbers, " "));
}

}  // namespace

void UnknownTokens::add(std::span<const std::string> unknown) {
  ++lines_;
  if (unknown.empty()) return;
  ++with_unknown_;
  for (const std::string& token : unknown) {
    if (kinds_.size() >= kMostKinds && !kinds_.contains(token)) continue;
    Kind& kind = kinds_[token];
    if (kind.lines++ == 0) kind.first = std::ssize(kinds_);
  }
}

std::string UnknownTokens::text() const {
  if (with_unknown_ == 0) return {};
  std::vector<const std::map<std::string, Kind>::value_type*> kinds;
  for (const auto& kind : kinds_) kinds.push_back(&kind);
  std::stable_sort(kinds.begin(), kinds.end(), [](const auto* a, const auto* b) {
    return a->second.lines != b->second.lines ? a->second.lines > b->second.lines : a->second.first < b->second.first;
  });
  std::vector<std::string> named;
  for (size_t i = 0; i < std::min(kinds.size(), kNamed); ++i) named.push_back(visible(kinds[i]->first));
  const size_t more = kinds.size() - named.size();
  const bool one = with_unknown_ == 1;
  return fmt::format("{} of {} {} {} {} the model never saw: {}{}; {} a guess", with_unknown_, lines_,
                     lines_ == 1 ? "line" : "lines", one ? "contains" : "contain",
                     kinds.size() == 1 ? "a " + what_ : what_ + "s", fmt::join(named, ", "),
                     more == 0 ? "" : fmt::format(" ({} more {})", more, more == 1 ? "kind" : "kinds"),
                     one ? "its " + guessed_ + " is" : "their " + guessed_ + "s are");
}

}  // namespace heed::cli
