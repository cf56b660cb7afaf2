#include "heed/text/graphemes.h"

#include <unicode/brkiter.h>
#include <unicode/utext.h>

#include <memory>

#include "heed/base/error.h"
#include "heed/text/icu_memory.h"

namespace heed::text {

std::vector<std::string_view> graphemes_of(std::string_view text) {
  UErrorCode status = U_ZERO_ERROR;
  const std::unique_ptr<icu::BreakIterator> breaks(
      icu::BreakIterator::createCharacterInstance(icu::Locale::getRoot(), status));
  const std::unique_ptr<UText, decltype(&utext_close)> opened(
      utext_openUTF8(nullptr, text.data(), static_cast<int64_t>(text.size()), &status), utext_close);
  if (U_SUCCESS(status)) breaks->setText(opened.get(), status);
  expect_icu_had_memory(status);
  expect(U_SUCCESS(status), ErrorKind::bug, "ICU cannot cut a text into letters: {}", u_errorName(status));
  std::vector<std::string_view> all;
  for (int32_t begin = breaks->first(), end = breaks->next(); end != icu::BreakIterator::DONE;
       begin = end, end = breaks->next())
    all.push_back(text.substr(static_cast<size_t>(begin), static_cast<size_t>(end - begin)));
  return all;
}

}  // namespace heed::text
