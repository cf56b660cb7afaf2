#include "heed/text/unicode_form.h"

#include <unicode/bytestream.h>
#include <unicode/normalizer2.h>

#include "heed/base/error.h"
#include "heed/text/icu_memory.h"

namespace heed::text {

namespace {

using Form = const icu::Normalizer2*(UErrorCode&);

std::string in_form(std::string_view text, Form* form) {
  UErrorCode status = U_ZERO_ERROR;
  const icu::Normalizer2* normaliser = form(status);
  std::string result;
  if (U_SUCCESS(status)) {
    icu::StringByteSink<std::string> sink(&result, static_cast<int32_t>(text.size()));
    normaliser->normalizeUTF8(0, {text.data(), static_cast<int32_t>(text.size())}, sink, nullptr, status);
  }
  expect_icu_had_memory(status);
  expect(U_SUCCESS(status), ErrorKind::data, "ICU cannot normalise a text of {} bytes: {}", text.size(),
         u_errorName(status));
  return result;
}

}  // namespace

std::string decomposed(std::string_view text) { return in_form(text, &icu::Normalizer2::getNFDInstance); }

std::string composed(std::string_view text) { return in_form(text, &icu::Normalizer2::getNFCInstance); }

}  // namespace heed::text
