// The forms in which each language writes a date: patterns of ICU and their variants, but only unambiguous ones.
//
// The text alone must determine the date, whatever the language. So the same rules hold for all:
//
//   - A year of four digits may be anywhere.
//   - A year of two digits is the last of the numbers, as in 5.3.24, or has its sign, as in 24年3月5日. It is one of
//     1970 to 2069.
//   - Numbers alone are day, month, year or year, month, day. Month, day, year (the United States) is used only where
//     the day is above 12, so that it cannot be taken for a month: 3/25/2024, never 3/5/2024.
//
// The calendar is always the Gregorian one, even where another is usual (Thai, Persian).
#pragma once

#include <span>
#include <string>
#include <vector>

namespace heed::data {

inline constexpr int kFirstShortYear = 1970;  // of the hundred years that two digits can mean

struct DateForm {
  std::string pattern;      // of ICU, UTF-8: "d. MMMM y"
  std::string numbers;      // digits: a numbering system of ICU ("arab"), or one per field ("y=hanidec;M=hans;d=hans")
  bool short_year = false;  // two digits
  bool only_above_12th = false;  // the month comes before the day
};

struct DateLanguage {
  std::string code;  // of ICU: "de", "zh_Hant"
  bool cased;        // its script has capitals
  // forms[k] are variants of one pattern: a pattern with many variants must not be more frequent than another.
  std::vector<std::vector<DateForm>> forms;
};

/// The codes of all languages.
std::vector<std::string> date_language_codes();

/// The languages with these codes, or all if none are given. Throws Error if a code is not known.
std::vector<DateLanguage> date_languages(std::span<const std::string> codes = {});

}  // namespace heed::data
