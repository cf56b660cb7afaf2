#include "heed/text/segments.h"

#include <unicode/brkiter.h>
#include <unicode/bytestream.h>
#include <unicode/casemap.h>
#include <unicode/utext.h>

#include <memory>

#include "heed/base/error.h"
#include "heed/text/icu_memory.h"
#include "heed/text/words.h"

namespace heed::text {

namespace {

using Create = icu::BreakIterator*(const icu::Locale&, UErrorCode&);

/// visit(part) for each part of the text between two breaks. An iterator is slow to make: each thread keeps its own.
template <class Visit>
void for_each_part(std::string_view text, icu::BreakIterator& breaks, const Visit& visit) {
  UErrorCode status = U_ZERO_ERROR;
  const std::unique_ptr<UText, decltype(&utext_close)> opened(
      utext_openUTF8(nullptr, text.data(), static_cast<int64_t>(text.size()), &status), utext_close);
  if (U_SUCCESS(status)) breaks.setText(opened.get(), status);
  expect_icu_had_memory(status);
  expect(U_SUCCESS(status), ErrorKind::bug, "ICU cannot cut a text: {}", u_errorName(status));
  for (int32_t begin = breaks.first(), end = breaks.next(); end != icu::BreakIterator::DONE;
       begin = end, end = breaks.next())
    visit(text.substr(static_cast<size_t>(begin), static_cast<size_t>(end - begin)));
}

std::unique_ptr<icu::BreakIterator> made(Create* create) {
  UErrorCode status = U_ZERO_ERROR;
  std::unique_ptr<icu::BreakIterator> breaks(create(icu::Locale::getRoot(), status));
  expect_icu_had_memory(status);
  expect(U_SUCCESS(status), ErrorKind::bug, "ICU has no rules to cut texts by: {}", u_errorName(status));
  return breaks;
}

std::string lowered(std::string_view word) {
  std::string result;
  icu::StringByteSink<std::string> sink(&result, static_cast<int32_t>(word.size()));
  UErrorCode status = U_ZERO_ERROR;
  icu::CaseMap::utf8ToLower("", 0, {word.data(), static_cast<int32_t>(word.size())}, sink, nullptr, status);
  return U_SUCCESS(status) ? result : std::string(word);
}

/// Whether a tag ends a line: <br />, </p>, <li>.  `name` begins with its letters.
bool ends_line(std::string_view name) {
  if (name.starts_with('/')) name.remove_prefix(1);
  const size_t end = std::min(name.find_first_of(" />\t"), name.size());
  const std::string word = lowered(name.substr(0, end));
  for (const char* tag : {"br", "p", "div", "li", "ul", "ol", "tr", "td", "h1", "h2", "h3", "h4", "h5", "h6", "hr"})
    if (word == tag) return true;
  return false;
}

/// Tags of HTML become blanks of the same length, so that words stay where they are; those that end a line end with
/// an end of line.
std::string without_tags(std::string_view text) {
  constexpr size_t kLongestTag = 40;
  std::string plain(text);
  for (size_t open = plain.find('<'); open != std::string::npos; open = plain.find('<', open + 1)) {
    const size_t close = plain.find_first_of("<>", open + 1);
    if (close == std::string::npos) break;
    const bool letter = open + 1 < plain.size() &&
                        (std::isalpha(static_cast<unsigned char>(plain[open + 1])) != 0 || plain[open + 1] == '/');
    if (plain[close] != '>' || !letter || close - open > kLongestTag) continue;
    const bool line = ends_line(std::string_view(plain).substr(open + 1, close - open));
    plain.replace(open, close - open + 1, close - open + 1, ' ');
    if (line) plain[close] = '\n';  // the last, so that no tag is cut in two
  }
  return plain;
}

}  // namespace

std::vector<std::string> unicode_words_of(std::string_view text) {
  thread_local const std::unique_ptr<icu::BreakIterator> breaks = made(icu::BreakIterator::createWordInstance);
  const std::string plain = without_tags(text);
  std::vector<std::string> words;
  for_each_part(plain, *breaks, [&](std::string_view part) {
    if (!is_blank(part)) words.push_back(lowered(part));
  });
  return words;
}

std::vector<std::string_view> sentences_of(std::string_view text) {
  thread_local const std::unique_ptr<icu::BreakIterator> breaks = made(icu::BreakIterator::createSentenceInstance);
  std::vector<std::string_view> sentences;
  const std::string plain = without_tags(text);
  for_each_part(plain, *breaks, [&](std::string_view part) {
    if (!is_blank(part)) sentences.push_back(text.substr(static_cast<size_t>(part.data() - plain.data()), part.size()));
  });
  return sentences;
}

}  // namespace heed::text
