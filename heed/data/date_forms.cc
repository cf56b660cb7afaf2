#include "heed/data/date_forms.h"

#include <unicode/dtptngen.h>
#include <unicode/locid.h>
#include <unicode/smpdtfmt.h>
#include <unicode/unistr.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string_view>

#include "heed/base/error.h"
#include "heed/base/nearest.h"
#include "heed/text/icu_memory.h"

namespace heed::data {

namespace {

struct Known {
  const char* code;
  bool cased;
  std::vector<const char*> numbers;  // the digits it is written with
};

const std::vector<const char*> kLatin = {"latn"};

// Croatian is missing on purpose: its "listopad" is October, the Polish and Czech one November.
const std::vector<Known>& known_languages() {
  static const std::vector<Known> all = {
      {"en_GB", true, kLatin},
      {"en_US", true, kLatin},
      {"de", true, kLatin},
      {"fr", true, kLatin},
      {"es", true, kLatin},
      {"it", true, kLatin},
      {"pt", true, kLatin},
      {"ca", true, kLatin},
      {"ro", true, kLatin},
      {"nl", true, kLatin},
      {"sv", true, kLatin},
      {"da", true, kLatin},
      {"nb", true, kLatin},
      {"fi", true, kLatin},
      {"et", true, kLatin},
      {"lt", true, kLatin},
      {"pl", true, kLatin},
      {"cs", true, kLatin},
      {"hu", true, kLatin},
      {"tr", true, kLatin},
      {"id", true, kLatin},
      {"vi", true, kLatin},
      {"sw", true, kLatin},
      {"ru", true, kLatin},
      {"uk", true, kLatin},
      {"bg", true, kLatin},
      {"sr", true, kLatin},
      {"el", true, kLatin},
      {"hy", true, kLatin},
      {"ka", false, kLatin},
      {"he", false, kLatin},
      {"ar", false, {"arab", "latn"}},
      {"fa", false, {"arabext", "latn"}},
      {"hi", false, {"latn", "deva"}},
      {"bn", false, {"beng", "latn"}},
      {"ta", false, {"latn", "tamldec"}},
      {"th", false, {"latn", "thai"}},
      {"zh", false, {"latn", "y=hanidec;M=hans;d=hans"}},
      {"zh_Hant", false, {"latn", "y=hanidec;M=hant;d=hant"}},
      {"ja", false, {"latn", "fullwide", "y=hanidec;M=jpan;d=jpan"}},
      {"ko", false, kLatin},
  };
  return all;
}

void expect_icu(UErrorCode status, const char* what, const char* code) {
  text::expect_icu_had_memory(status);
  expect(U_SUCCESS(status), ErrorKind::data, "ICU has no {} for '{}': {}; is its data installed?", what, code,
         u_errorName(status));
}

/// A pattern in parts: fields such as MMMM, and the text between them, quotes included.
struct Part {
  icu::UnicodeString text;
  char field = 0;  // E weekday, d, M (also of the form L), y, G era; 0: between the fields
};

std::vector<Part> parts_of(const icu::UnicodeString& pattern) {
  std::vector<Part> parts;
  bool quoted = false;
  for (int32_t i = 0; i < pattern.length(); ++i) {
    const char16_t c = pattern[i];
    if (c == u'\'') quoted = !quoted;
    const bool letter = (c >= u'a' && c <= u'z') || (c >= u'A' && c <= u'Z');
    char field = letter && !quoted ? static_cast<char>(c) : '\0';
    if (field == 'L') field = 'M';
    if (field == 'c') field = 'E';
    if (parts.empty() || parts.back().field != field) parts.push_back({{}, field});
    parts.back().text.append(c);
  }
  return parts;
}

icu::UnicodeString joined(const std::vector<Part>& parts) {
  icu::UnicodeString pattern;
  for (const Part& part : parts) pattern.append(part.text);
  return pattern;
}

/// What the rules at the top of the header need to know.
struct Shape {
  bool named_month = false;
  bool marked = false;  // the year has its sign
  bool weekday = false;
  bool era = false;
  size_t year = 0, month = 0, day = 0;
};

Shape shape_of(const std::vector<Part>& parts) {
  Shape shape;
  const icu::UnicodeString pattern = joined(parts);
  shape.marked = pattern.indexOf(u'年') >= 0 || pattern.indexOf(u'년') >= 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].field == 'y') shape.year = i;
    if (parts[i].field == 'd') shape.day = i;
    if (parts[i].field == 'E') shape.weekday = true;
    if (parts[i].field == 'G') shape.era = true;
    if (parts[i].field == 'M') {
      shape.month = i;
      shape.named_month = parts[i].text.length() >= 3;
    }
  }
  return shape;
}

/// The form of this pattern with these digits, if the rules allow it.
std::optional<DateForm> readable_form(const std::vector<Part>& parts, const char* numbers) {
  const Shape s = shape_of(parts);
  DateForm form;
  form.numbers = numbers;
  form.short_year = parts[s.year].text.length() == 2;
  joined(parts).toUTF8String(form.pattern);
  if (s.marked) return form;
  // Numbers that are written out ("十二") cannot be adjacent without their signs.
  if (form.numbers.find('=') != std::string::npos) return std::nullopt;
  const bool year_last = s.year > s.day && (s.named_month || s.year > s.month);
  if (form.short_year && (!year_last || s.era)) return std::nullopt;  // with its era, year 24 is year 24
  if (s.named_month) return form;
  const bool year_first = s.year < s.month && s.month < s.day;
  if (!year_last && !year_first) return std::nullopt;
  form.only_above_12th = year_last && s.month < s.day;
  return form;
}

/// The same with a year of two or (the pattern y) four digits.
std::vector<Part> with_year(std::vector<Part> parts, const char16_t* year) {
  parts[shape_of(parts).year].text = year;
  return parts;
}

/// The same with this separator between day, month and year; none if there is more between them than dots, slashes,
/// dashes and blanks. A dot after the last number ("2024. 03. 05.") is replaced with the others.
std::optional<std::vector<Part>> with_separator(std::vector<Part> parts, const char16_t* separator) {
  const Shape s = shape_of(parts);
  const auto [first, last] = std::minmax({s.year, s.month, s.day});
  if (last - first != 4) return std::nullopt;
  const icu::UnicodeString replaceable = u"./- \u200F";  // the last one sets the direction, in Arabic
  for (const size_t i : {first + 1, first + 3}) {
    for (int32_t k = 0; k < parts[i].text.length(); ++k)
      if (replaceable.indexOf(parts[i].text[k]) < 0) return std::nullopt;
    parts[i].text = separator;
  }
  if (last + 1 < parts.size() && parts[last + 1].text.startsWith(u".")) parts[last + 1].text.remove(0, 1);
  return parts;
}

/// The same without commas; none if there were no commas.
std::optional<std::vector<Part>> without_commas(std::vector<Part> parts) {
  bool found = false;
  for (Part& part : parts) {
    const int32_t before = part.text.length();
    if (part.field == 0) part.text.findAndReplace(u",", u"").findAndReplace(u"،", u"");
    found = found || part.text.length() != before;
  }
  return found ? std::optional(parts) : std::nullopt;
}

/// All unambiguous variants of one pattern.
std::vector<DateForm> variants(const icu::UnicodeString& pattern, const Known& language) {
  const std::vector<Part> original = parts_of(pattern);
  std::vector<std::vector<Part>> shapes = {original};
  if (auto changed = without_commas(original)) shapes.push_back(*changed);
  // 5-Mar-2024 is written, Tuesday, 5-March-2024 hardly. A blank between names and numbers is there already.
  const Shape s = shape_of(original);
  const bool abbreviated = original[s.month].text.length() == 3 && !s.weekday;
  for (const char16_t* separator : {u"/", u".", u"-", u" "}) {
    if (s.named_month && !abbreviated) break;
    if (auto changed = with_separator(original, separator)) shapes.push_back(*changed);
  }
  std::vector<DateForm> forms;
  for (const auto& shape : shapes) {
    for (const char16_t* year : {u"y", u"yy"}) {
      for (const char* numbers : language.numbers) {
        const auto form = readable_form(with_year(shape, year), numbers);
        const bool there = form && std::any_of(forms.begin(), forms.end(), [&](const DateForm& f) {
                             return f.pattern == form->pattern && f.numbers == form->numbers;
                           });
        if (form && !there) forms.push_back(*form);
      }
    }
  }
  return forms;
}

DateLanguage read_language(const Known& known) {
  const icu::Locale locale((std::string(known.code) + "@calendar=gregorian").c_str());
  std::vector<icu::UnicodeString> patterns;
  const auto add = [&](const icu::UnicodeString& pattern) {
    if (std::find(patterns.begin(), patterns.end(), pattern) == patterns.end()) patterns.push_back(pattern);
  };
  for (const auto style :
       {icu::DateFormat::kFull, icu::DateFormat::kLong, icu::DateFormat::kMedium, icu::DateFormat::kShort}) {
    const std::unique_ptr<icu::DateFormat> format(icu::DateFormat::createDateInstance(style, locale));
    const auto* simple = dynamic_cast<const icu::SimpleDateFormat*>(format.get());
    expect_icu(simple == nullptr ? U_MISSING_RESOURCE_ERROR : U_ZERO_ERROR, "pattern of dates", known.code);
    icu::UnicodeString pattern;
    simple->toPattern(pattern);
    add(pattern);
  }
  UErrorCode status = U_ZERO_ERROR;
  const std::unique_ptr<icu::DateTimePatternGenerator> generator(
      icu::DateTimePatternGenerator::createInstance(locale, status));
  expect_icu(status, "patterns of dates", known.code);
  for (const char16_t* skeleton : {u"yMd", u"yMMdd", u"yMMMd", u"yMMMMd", u"yMMMEd", u"yMMMMEEEEd", u"yMEd"}) {
    add(generator->getBestPattern(skeleton, status));
    expect_icu(status, "pattern of dates", known.code);
  }
  DateLanguage language{known.code, known.cased, {}};
  for (const auto& pattern : patterns) {
    auto forms = variants(pattern, known);
    if (!forms.empty()) language.forms.push_back(std::move(forms));
  }
  return language;
}

}  // namespace

std::vector<std::string> date_language_codes() {
  std::vector<std::string> codes;
  for (const Known& known : known_languages()) codes.emplace_back(known.code);
  return codes;
}

std::vector<DateLanguage> date_languages(std::span<const std::string> codes) {
  const std::vector<std::string> all = date_language_codes();
  for (const std::string& code : codes) expect_known("language of dates", code, all);
  std::vector<DateLanguage> languages;
  for (const Known& known : known_languages())
    if (codes.empty() || std::find(codes.begin(), codes.end(), known.code) != codes.end())
      languages.push_back(read_language(known));
  return languages;
}

}  // namespace heed::data
