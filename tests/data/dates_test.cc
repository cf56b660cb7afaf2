// slow: 6 s
#include "heed/data/dates.h"

#include <unicode/dtfmtsym.h>
#include <unicode/smpdtfmt.h>
#include <unicode/timezone.h>
#include <unicode/unistr.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include <gtest/gtest.h>

#include "heed/data/date_forms.h"
#include "heed/text/utf8.h"
#include "tests/base/folder.h"

namespace heed::data {
namespace {

const std::vector<WrittenDate>& samples() {
  static const std::vector<WrittenDate> all = DateWriter().sample(100'000, 1, {});
  return all;
}

TEST(Dates, ManyLanguagesAndScripts) {
  EXPECT_GE(date_language_codes().size(), 20u);
  std::map<std::string, int> counts;
  for (const auto& date : samples()) ++counts[date.language];
  EXPECT_EQ(counts.size(), date_language_codes().size());
  for (const auto& [language, count] : counts) EXPECT_GT(count, 1000) << language;
}

TEST(Dates, NoTextMeansTwoDates) {
  std::unordered_map<std::string, std::string> dates;
  for (const auto& date : samples()) {
    const auto [found, is_new] = dates.emplace(date.text, date.iso);
    ASSERT_EQ(found->second, date.iso) << date.text;
  }
  EXPECT_GT(dates.size(), 95'000u);
}

/// Every form of dates whose day, month and year can be taken for each other.
TEST(Dates, NoTextOfAnyFormMeansTwoDates) {
  const DateWriter writer;
  std::unordered_map<std::string, std::string> dates;
  for (const int64_t year : {2003, 2011, 2028})
    for (const int64_t month : {3, 11})
      for (const int64_t day : {3, 11, 28})
        for (const auto& date : writer.all({year, month, day})) {
          const auto [found, is_new] = dates.emplace(date.text, date.iso);
          ASSERT_EQ(found->second, date.iso) << date.text << " as " << date.pattern;
        }
  EXPECT_GT(dates.size(), 30'000u);
}

TEST(Dates, ValidTextAndIsoDates) {
  constexpr int kDays[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  for (const auto& date : samples()) {
    ASSERT_EQ(text::utf8_fault(date.text), std::string_view::npos);
    ASSERT_LE(text::utf8_count(date.text), 60u) << date.text;
    int year = 0, month = 0, day = 0;
    ASSERT_EQ(std::sscanf(date.iso.c_str(), "%4d-%2d-%2d", &year, &month, &day), 3);
    ASSERT_EQ(date.iso.size(), 10u);
    ASSERT_TRUE(year >= 1900 && year <= 2099 && month >= 1 && month <= 12 && day >= 1 && day <= kDays[month - 1]);
    const bool short_year = date.pattern.find("yy") != std::string::npos;
    ASSERT_TRUE(!short_year || (year >= 1970 && year <= 2069)) << date.text;
  }
}

/// A reader of dates made by ICU from the language and the pattern.
std::unique_ptr<icu::SimpleDateFormat> reader_of(const WrittenDate& date) {
  UErrorCode status = U_ZERO_ERROR;
  const bool per_field = date.numbers.find('=') != std::string::npos;
  const icu::Locale locale(
      (date.language + "@calendar=gregorian" + (per_field ? "" : ";numbers=" + date.numbers)).c_str());
  const auto pattern = icu::UnicodeString::fromUTF8(date.pattern);
  auto reader = per_field ? std::make_unique<icu::SimpleDateFormat>(pattern, icu::UnicodeString::fromUTF8(date.numbers),
                                                                    locale, status)
                          : std::make_unique<icu::SimpleDateFormat>(pattern, locale, status);
  EXPECT_TRUE(U_SUCCESS(status));
  reader->setTimeZone(*icu::TimeZone::getGMT());
  reader->set2DigitYearStart(0.0, status);  // 1970
  return reader;
}

std::string iso_of(UDate time) {
  static const std::unique_ptr<icu::SimpleDateFormat> iso = [] {
    UErrorCode status = U_ZERO_ERROR;
    auto made = std::make_unique<icu::SimpleDateFormat>(u"yyyy-MM-dd", icu::Locale::getRoot(), status);
    made->setTimeZone(*icu::TimeZone::getGMT());
    return made;
  }();
  icu::UnicodeString text;
  std::string result;
  return iso->format(time, text).toUTF8String(result);
}

/// Capitals, and the accents that Greek capitals lose, make no difference.
icu::UnicodeString folded(const std::string& text, const std::string& language) {
  auto folded = icu::UnicodeString::fromUTF8(text);
  folded.findAndReplace(u"\u200F", u"").findAndReplace(u"\u200E", u"");
  folded.findAndReplace(u"\u00A0", u" ").findAndReplace(u"\u202F", u" ");
  return folded.toUpper(icu::Locale(language.c_str())).foldCase();
}

/// Read by ICU: what it can read is the same date.
TEST(Dates, IcuReadsThemBack) {
  std::map<std::string, std::unique_ptr<icu::SimpleDateFormat>> readers;
  std::set<std::string> read;
  int unread = 0;
  for (const auto& date : samples()) {
    // ICU writes numbers in words ("二十五"), but does not read them here.
    if (date.numbers.find('=') != std::string::npos) continue;
    auto& reader = readers[date.language + "|" + date.pattern + "|" + date.numbers];
    if (!reader) reader = reader_of(date);
    UErrorCode status = U_ZERO_ERROR;
    const UDate time = reader->parse(icu::UnicodeString::fromUTF8(date.text), status);
    if (U_FAILURE(status)) {
      ++unread;
      continue;
    }
    ASSERT_EQ(iso_of(time), date.iso) << date.text << " as " << date.pattern << " in " << date.language;
    read.insert(date.language);
  }
  EXPECT_LT(unread, 3'000);  // ICU takes "de" and the like only in the case of the pattern
  EXPECT_EQ(read.size(), date_language_codes().size());
}

/// Read by a table: of all days of that year, the only one that is written so in that form, whatever the case.
TEST(Dates, OnlyOneDayIsWrittenSo) {
  std::map<std::string, std::unique_ptr<icu::SimpleDateFormat>> readers;
  std::map<std::string, int> read;
  for (const auto& date : samples()) {
    if (read[date.language] >= 25) continue;
    ++read[date.language];
    auto& reader = readers[date.language + "|" + date.pattern + "|" + date.numbers];
    if (!reader) reader = reader_of(date);
    const auto wanted = folded(date.text, date.language);
    std::set<std::string> found;
    const int year = std::stoi(date.iso.substr(0, 4));
    for (int day = -2; day < 370; ++day) {
      const UDate time = (std::floor((year - 1970) * 365.2425) + day) * 86'400'000.0 + 43'200'000.0;
      if (iso_of(time).substr(0, 4) != date.iso.substr(0, 4)) continue;
      icu::UnicodeString text;
      std::string utf8;
      reader->format(time, text).toUTF8String(utf8);
      if (folded(utf8, date.language) == wanted) found.insert(iso_of(time));
    }
    ASSERT_EQ(found, std::set<std::string>{date.iso}) << date.text << " as " << date.pattern << " in " << date.language;
  }
}

TEST(Dates, FormsOfOneDate) {
  const DateWriter writer;
  std::set<std::string> texts;
  for (const auto& date : writer.all({2024, 3, 5})) {
    EXPECT_EQ(date.iso, "2024-03-05");
    texts.insert(date.text);
  }
  for (const char* text : {"Tuesday, 5 March 2024",
                           "TUESDAY, 5 MARCH 2024",
                           "Mar 5, 2024",
                           "Mar 5 24",
                           "5-Mar-2024",
                           "05/03/2024",
                           "5.3.24",
                           "5 3 2024",
                           "2024-03-05",
                           "2024/3/5",
                           "Dienstag, 5. M\u00E4rz 2024",
                           "dienstag 5. m\u00E4rz 2024",
                           "mardi 5 mars 2024",
                           "5 \u03BC\u03B1\u03C1\u03C4\u03AF\u03BF\u03C5 2024",
                           "5 \u043C\u0430\u0440\u0442\u0430 2024 \u0433.",
                           "\u0665/\u0663/\u0662\u0660\u0662\u0664",
                           "5 \u092E\u093E\u0930\u094D\u091A 2024",
                           "2024\u5E743\u67085\u65E5",
                           "\u4E8C\u3007\u4E8C\u56DB\u5E74\u4E09\u6708\u4E94\u65E5",
                           "24\u5E743\u67085\u65E5",
                           "2024. 3. 5.",
                           "2024\uB144 3\uC6D4 5\uC77C"})
    EXPECT_TRUE(texts.contains(text)) << text;
  // Neither month first without a name, nor a year of two digits first, nor the Buddhist year.
  for (const char* text : {"3/5/2024", "03/05/2024", "3/5/24", "24. 3. 5.", "24-03-05", "5/3/2567"})
    EXPECT_FALSE(texts.contains(text)) << text;
  // The month may stand first where the day cannot be one; two digits are enough only for 1970 to 2069.
  std::set<std::string> later;
  for (const auto& date : writer.all({2070, 3, 25})) later.insert(date.text);
  EXPECT_TRUE(later.contains("3/25/2070"));
  EXPECT_FALSE(later.contains("25.3.70"));
}

TEST(Dates, ExamplesAreWhatTheTaskWrites) {
  const DateWriter writer;
  const Pairs examples = example_dates();
  EXPECT_GE(examples.size(), 15);
  for (int64_t i = 0; i < examples.size(); ++i) {
    const std::string& iso = examples.target[static_cast<size_t>(i)];
    CivilDate date{};
    ASSERT_EQ(std::sscanf(iso.c_str(), "%ld-%ld-%ld", &date.year, &date.month, &date.day), 3);
    bool found = false;
    for (const auto& written : writer.all(date))
      found = found || written.text == examples.source[static_cast<size_t>(i)];
    EXPECT_TRUE(found) << examples.source[static_cast<size_t>(i)];
  }
}

TEST(Dates, AFunctionOfTheSeed) {
  const auto texts = [](int64_t count, uint64_t seed) { return date_pairs(count, seed).source; };
  EXPECT_EQ(texts(300, 7), texts(300, 7));
  EXPECT_NE(texts(300, 7), texts(300, 8));
  auto more = texts(400, 7);
  more.resize(300);
  EXPECT_EQ(more, texts(300, 7));
}

TEST(Dates, SplitsShareNothing) {
  std::map<std::string, Split> where;
  const DateWriter writer;
  for (const Split split : {Split::train, Split::valid, Split::test})
    for (const auto& date : writer.sample(5'000, 5, {.split = split})) {
      const auto [found, is_new] = where.emplace(date.text, split);
      ASSERT_EQ(found->second, split) << date.text;
    }
  EXPECT_GT(where.size(), 14'000u);
}

TEST(Dates, Options) {
  const Pairs pairs = date_pairs(200, 1, {.languages = {"de"}, .first_year = 1999, .last_year = 1999});
  for (const auto& iso : pairs.target) EXPECT_EQ(iso.substr(0, 4), "1999");
  expect_part(error_of([] { date_pairs(1, 1, {.languages = {"dee"}}); }), "did you mean 'de'?");
  expect_part(error_of([] { date_pairs(1, 1, {.first_year = 2000, .last_year = 1999}); }), "years from 2000 to 1999");
  EXPECT_FALSE(icu_version().empty());
}

}  // namespace
}  // namespace heed::data
