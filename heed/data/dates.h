// The task `dates`: a date as people write it, in some 40 languages, to ISO 8601.
//
//   Dienstag, 5. März 2024   ->   2024-03-05
//   二〇二四年三月五日        ->   2024-03-05
//
// The texts come from ICU: full, long, medium and short forms, with and without the weekday, months in words or
// numbers, years of two or four digits, separators / . - and blank, native and Latin digits, lower and upper case. No
// text means two dates: date_forms.h has the rules. A sample is a function of the seed, the options and the version of
// ICU.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "heed/data/pairs.h"
#include "heed/data/split.h"

namespace heed::data {

struct DateOptions {
  std::vector<std::string> languages = {};  // codes as in date_forms.h; none: all
  int64_t first_year = 1900;
  int64_t last_year = 2099;
  Split split = Split::train;
};

struct CivilDate {
  int64_t year, month, day;
};

struct WrittenDate {
  std::string text;
  std::string iso;
  std::string language;  // the code
  std::string pattern;   // of ICU
  std::string numbers;   // its digits, see DateForm
};

class DateWriter {
 public:
  explicit DateWriter(std::span<const std::string> languages = {});
  ~DateWriter();

  /// `count` dates of one split, drawn with the seed.
  std::vector<WrittenDate> sample(int64_t count, uint64_t seed, const DateOptions& options) const;

  /// One date in every form and case.
  std::vector<WrittenDate> all(const CivilDate& date) const;

 private:
  struct Inside;
  std::unique_ptr<Inside> inside_;
};

/// `count` pairs of text and ISO date.
Pairs date_pairs(int64_t count, uint64_t seed, const DateOptions& options = {});

/// Some dates in many languages, to show what a model can do; the ISO dates are right.
Pairs example_dates();

/// The version of ICU, which belongs to the seed: "72.1".
std::string icu_version();

}  // namespace heed::data
