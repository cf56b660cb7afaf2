#include "heed/data/dates.h"

#include <unicode/locid.h>
#include <unicode/smpdtfmt.h>
#include <unicode/timezone.h>
#include <unicode/unistr.h>
#include <unicode/uversion.h>

#include <algorithm>
#include <utility>

#include "heed/base/error.h"
#include "heed/base/random.h"
#include "heed/data/date_forms.h"
#include "heed/text/icu_memory.h"

namespace heed::data {

namespace {

enum class Case { as_it_is, lower, upper, title };

bool is_leap(int64_t year) { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0); }

int64_t days_of(int64_t year, int64_t month) {
  constexpr int64_t kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return month == 2 && is_leap(year) ? 29 : kDays[month - 1];
}

/// Milliseconds from 1970 to noon of the date. At noon, no clock change can turn it into another day.
UDate noon(const CivilDate& date) {
  int64_t days = 0;
  for (int64_t year = 1970; year < date.year; ++year) days += is_leap(year) ? 366 : 365;
  for (int64_t year = date.year; year < 1970; ++year) days -= is_leap(year) ? 366 : 365;
  for (int64_t month = 1; month < date.month; ++month) days += days_of(date.year, month);
  days += date.day - 1;
  return (static_cast<double>(days) + 0.5) * 86'400'000.0;
}

std::string iso(const CivilDate& date) { return fmt::format("{:04}-{:02}-{:02}", date.year, date.month, date.day); }

bool can_write(const DateForm& form, const CivilDate& date) {
  if (form.only_above_12th && date.day <= 12) return false;
  return !form.short_year || (date.year >= kFirstShortYear && date.year < kFirstShortYear + 100);
}

std::unique_ptr<icu::SimpleDateFormat> make_format(const std::string& code, const DateForm& form) {
  const bool per_field = form.numbers.find('=') != std::string::npos;
  const icu::Locale locale((code + "@calendar=gregorian" + (per_field ? "" : ";numbers=" + form.numbers)).c_str());
  const auto pattern = icu::UnicodeString::fromUTF8(form.pattern);
  UErrorCode status = U_ZERO_ERROR;
  auto format = per_field ? std::make_unique<icu::SimpleDateFormat>(pattern, icu::UnicodeString::fromUTF8(form.numbers),
                                                                    locale, status)
                          : std::make_unique<icu::SimpleDateFormat>(pattern, locale, status);
  text::expect_icu_had_memory(status);
  expect(U_SUCCESS(status), ErrorKind::data, "ICU cannot write dates as '{}' for '{}': {}", form.pattern, code,
         u_errorName(status));
  format->setTimeZone(*icu::TimeZone::getGMT());
  return format;
}

/// Removes direction marks, and turns non-breaking blanks into plain ones. A reader does not see the difference, so
/// texts of both kinds occur.
void remove_marks(icu::UnicodeString& text) {
  text.findAndReplace(u"\u200E", u"").findAndReplace(u"\u200F", u"");
  text.findAndReplace(u"\u00A0", u" ").findAndReplace(u"\u202F", u" ");
}

void set_case(icu::UnicodeString& text, Case wanted, const icu::Locale& locale) {
  if (wanted == Case::lower) text.toLower(locale);
  if (wanted == Case::upper) text.toUpper(locale);
  if (wanted == Case::title) text.toTitle(nullptr, locale);
}

}  // namespace

struct DateWriter::Inside {
  struct Form {
    DateForm form;
    std::unique_ptr<icu::SimpleDateFormat> format;
  };
  struct Language {
    std::string code;
    icu::Locale locale;
    bool cased;
    std::vector<std::vector<Form>> forms;
  };
  std::vector<Language> languages;

  static WrittenDate write(const Language& language, const Form& form, const CivilDate& date, Case wanted, bool marks) {
    icu::UnicodeString text;
    form.format->format(noon(date), text);
    if (!marks) remove_marks(text);
    set_case(text, wanted, language.locale);
    WrittenDate written{"", iso(date), language.code, form.form.pattern, form.form.numbers};
    text.toUTF8String(written.text);
    return written;
  }
};

DateWriter::DateWriter(std::span<const std::string> languages) : inside_(std::make_unique<Inside>()) {
  for (DateLanguage& language : date_languages(languages)) {
    Inside::Language made{language.code, icu::Locale(language.code.c_str()), language.cased, {}};
    for (auto& forms : language.forms) {
      made.forms.emplace_back();
      for (DateForm& form : forms) made.forms.back().push_back({form, make_format(language.code, form)});
    }
    inside_->languages.push_back(std::move(made));
  }
}

DateWriter::~DateWriter() = default;

std::vector<WrittenDate> DateWriter::sample(int64_t count, uint64_t seed, const DateOptions& options) const {
  expect(options.first_year >= 1000 && options.first_year <= options.last_year && options.last_year <= 9999,
         "dates: years from {} to {}; they must have four digits, and the first must not be above the last",
         options.first_year, options.last_year);
  const auto years = static_cast<uint64_t>(options.last_year - options.first_year + 1);
  text::Random random(seed);
  std::vector<WrittenDate> dates;
  while (static_cast<int64_t>(dates.size()) < count) {
    const auto& language = inside_->languages[random.below(inside_->languages.size())];
    const auto& forms = language.forms[random.below(language.forms.size())];
    const auto& form = forms[random.below(forms.size())];
    CivilDate date{options.first_year + static_cast<int64_t>(random.below(years)),
                   1 + static_cast<int64_t>(random.below(12)), 0};
    date.day = 1 + static_cast<int64_t>(random.below(static_cast<uint64_t>(days_of(date.year, date.month))));
    const bool changed = language.cased && random.chance(50);
    const Case wanted = changed ? static_cast<Case>(1 + random.below(3)) : Case::as_it_is;
    const bool marks = random.chance(50);
    if (!can_write(form.form, date)) continue;
    WrittenDate written = Inside::write(language, form, date, wanted, marks);
    if (split_of(written.text, written.iso) == options.split) dates.push_back(std::move(written));
  }
  return dates;
}

std::vector<WrittenDate> DateWriter::all(const CivilDate& date) const {
  std::vector<WrittenDate> dates;
  for (const auto& language : inside_->languages)
    for (const auto& forms : language.forms)
      for (const auto& form : forms)
        for (const Case wanted : {Case::as_it_is, Case::lower, Case::upper, Case::title})
          for (const bool marks : {true, false}) {
            if (!can_write(form.form, date) || (!language.cased && wanted != Case::as_it_is)) continue;
            WrittenDate written = Inside::write(language, form, date, wanted, marks);
            if (marks || written.text != dates.back().text) dates.push_back(std::move(written));
          }
  return dates;
}

Pairs date_pairs(int64_t count, uint64_t seed, const DateOptions& options) {
  Pairs pairs;
  for (const WrittenDate& date : DateWriter(options.languages).sample(count, seed, options))
    pairs.add(date.text, date.iso, pairs.size() + 1);
  return pairs;
}

Pairs example_dates() {
  constexpr std::pair<const char*, const char*> kExamples[] = {
      {"Tuesday, 5 March 2024", "2024-03-05"}, {"July 20, 1969", "1969-07-20"},
      {"9. November 1989", "1989-11-09"},      {"mardi 14 juillet 2015", "2015-07-14"},
      {"1 de enero de 1999", "1999-01-01"},    {"31.12.99", "1999-12-31"},
      {"29-FEB-2024", "2024-02-29"},           {"12 апреля 1961 г.", "1961-04-12"},
      {"24 серпня 1991 р.", "1991-08-24"},     {"25 ΜΑΡΤΙΟΥ 2021", "2021-03-25"},
      {"29 Ekim 1923", "1923-10-29"},          {"1956. október 23.", "1956-10-23"},
      {"14 במאי 1948", "1948-05-14"},          {"٢٣ يوليو ١٩٥٢", "1952-07-23"},
      {"15 अगस्त 1947", "1947-08-15"},          {"26 মার্চ, 1971", "1971-03-26"},
      {"5 ธันวาคม 2016", "2016-12-05"},         {"2008年8月8日", "2008-08-08"},
      {"二〇二四年三月五日", "2024-03-05"},    {"2020年7月24日(金)", "2020-07-24"},
      {"2018년 2월 9일 금요일", "2018-02-09"},
  };
  Pairs pairs;
  for (const auto& [text, date] : kExamples) pairs.add(text, date, pairs.size() + 1);
  return pairs;
}

std::string icu_version() {
  UVersionInfo version;
  u_getVersion(version);
  return fmt::format("{}.{}", version[0], version[1]);
}

}  // namespace heed::data
