// Words are separated by spaces, tabs and line ends; the other spaces of Unicode are text.
#pragma once

#include <string_view>
#include <vector>

namespace heed::text {

inline constexpr std::string_view kBlanks = " \t\r\n";

template <class Visit>
void for_each_word(std::string_view text, Visit visit) {
  for (size_t begin = text.find_first_not_of(kBlanks); begin != std::string_view::npos;) {
    const size_t end = text.find_first_of(kBlanks, begin);
    visit(text.substr(begin, end - begin));
    begin = text.find_first_not_of(kBlanks, end);
  }
}

/// The words of `text`, which must outlive them.
inline std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  for_each_word(text, [&](std::string_view word) { words.push_back(word); });
  return words;
}

inline std::string_view without_blanks_around(std::string_view text) {
  const size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) + 1 - begin);
}

inline bool is_blank(std::string_view text) { return text.find_first_not_of(kBlanks) == std::string_view::npos; }

}  // namespace heed::text
