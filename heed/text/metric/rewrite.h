// Steps that the tokenisations of the metrics are made of: each puts blanks between characters.
#pragma once

#include <string>
#include <string_view>

#include "heed/text/metric/unicode.h"

namespace heed::metric {

/// Every `from` becomes `to`, left to right.
inline std::u32string replaced(std::u32string_view text, std::u32string_view from, std::u32string_view to) {
  std::u32string result;
  for (size_t at = text.find(from); at != text.npos; at = text.find(from)) {
    result.append(text.substr(0, at)).append(to);
    text.remove_prefix(at + from.size());
  }
  return result.append(text);
}

/// With a blank on each side: rules that look at two characters then see the begin and the end.
inline std::u32string between_blanks(std::u32string_view text) {
  std::u32string result(1, U' ');
  result.append(text);
  result.push_back(U' ');
  return result;
}

/// "x" becomes " x " where is(x).
template <class Is>
std::u32string set_apart(std::u32string_view text, Is is) {
  std::u32string result;
  result.reserve(text.size() * 3 / 2);
  for (const char32_t c : text) {
    if (is(c))
      result.append({U' ', c, U' '});
    else
      result.push_back(c);
  }
  return result;
}

enum class Apart { first, second };

/// Pairs "xy" with first(x) and second(y) become " x y" or "x y ". Pairs do not overlap: of ",.," with points as both
/// parts, only the first two are one. (So the rules were defined, as regular expressions; scores depend on it.)
template <class First, class Second>
std::u32string split_pairs(std::u32string_view text, First first, Second second, Apart apart) {
  std::u32string result;
  result.reserve(text.size() * 3 / 2);
  size_t i = 0;
  for (; i + 1 < text.size(); ++i) {
    const char32_t x = text[i], y = text[i + 1];
    if (!first(x) || !second(y)) {
      result.push_back(x);
      continue;
    }
    if (apart == Apart::first)
      result.append({U' ', x, U' ', y});
    else
      result.append({x, U' ', y, U' '});
    ++i;
  }
  if (i < text.size()) result.push_back(text[i]);
  return result;
}

/// &quot; &amp; &lt; &gt; become what they stand for, in this order: "&amp;lt;" becomes "<".
inline std::u32string without_entities(std::u32string text) {
  if (text.find(U'&') == text.npos) return text;
  text = replaced(text, U"&quot;", U"\"");
  text = replaced(text, U"&amp;", U"&");
  text = replaced(text, U"&lt;", U"<");
  return replaced(text, U"&gt;", U">");
}

/// ASCII punctuation and symbols but for ' , - . , and the blank.
inline std::u32string western_marks_apart(std::u32string_view text) {
  return set_apart(text, [](char32_t c) {
    if (c == U'\'' || c == U',' || c == U'-' || c == U'.') return false;
    return (c >= U' ' && c <= U'/') || (c >= U':' && c <= U'@') || (c >= U'[' && c <= U'`') || (c >= U'{' && c <= U'~');
  });
}

/// Point and comma, except between digits; the hyphen after a digit.
inline std::u32string western_points_apart(std::u32string_view text) {
  const auto point = [](char32_t c) { return c == U'.' || c == U','; };
  const auto no_digit = [](char32_t c) { return !is_digit(c); };
  std::u32string result = split_pairs(text, no_digit, point, Apart::second);
  result = split_pairs(result, point, no_digit, Apart::first);
  return split_pairs(
      result, is_digit, [](char32_t c) { return c == U'-'; }, Apart::second);
}

}  // namespace heed::metric
