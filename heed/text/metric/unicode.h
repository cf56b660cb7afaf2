// Texts as the metrics see them: code points, with the properties that Unicode gives them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heed::metric {

/// The code points of valid UTF-8.
std::u32string code_points(std::string_view text);

/// In small letters, by the rules of Unicode for no language in particular. Valid UTF-8.
std::string lowered(const std::string& text);

/// The blanks of Unicode, and the four ASCII separators 1C ... 1F: what Python's str.split() cuts at, because published
/// scores were computed with it. (heed/text/words.h knows the blanks of ASCII only: other blanks are text there.)
bool is_space(char32_t c);

bool is_digit(char32_t c);  // 0 ... 9

// General categories P, S and N.
bool is_punctuation(char32_t c);
bool is_symbol(char32_t c);
bool is_number(char32_t c);

std::u32string_view without_trailing_space(std::u32string_view text);

/// What stands between blanks.
std::vector<std::u32string> split(std::u32string_view text);
/// The same of valid UTF-8, which must outlive it.
std::vector<std::string_view> split_utf8(std::string_view text);

}  // namespace heed::metric
