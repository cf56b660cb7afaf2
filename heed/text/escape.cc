#include "heed/text/escape.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "heed/base/error.h"
#include "heed/text/utf8.h"

namespace heed::text {

namespace {

// Each escaped character, and its letter after the backslash.
constexpr std::pair<char, char> kEscapes[] = {{'\n', 'n'}, {'\r', 'r'}, {'\t', 't'},
                                              {' ', 's'},  {'\0', '0'}, {'\\', '\\'}};

}  // namespace

std::string escaped(std::string_view token) {
  std::string text;
  for (const char c : token) {
    const auto* found = std::find_if(std::begin(kEscapes), std::end(kEscapes), [c](auto& e) { return e.first == c; });
    if (found == std::end(kEscapes)) {
      text += c;
    } else {
      text += '\\';
      text += found->second;
    }
  }
  return text;
}

std::string unescaped(std::string_view line, std::string_view where) {
  expect(!line.empty(), ErrorKind::file, "{}: the token is empty", where);
  const size_t fault = utf8_fault(line);
  expect(fault == std::string_view::npos, ErrorKind::file, "{}: not valid UTF-8 at byte {}", where, fault + 1);
  std::string token;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c != '\\') {
      const bool bare = std::any_of(std::begin(kEscapes), std::end(kEscapes), [c](auto& e) { return e.first == c; });
      expect(!bare, ErrorKind::file, "{}: a blank, tab or other character that must be escaped, at byte {}", where,
             i + 1);
      token += c;
      continue;
    }
    const char* found = nullptr;
    if (++i < line.size())
      for (const auto& [meant, written] : kEscapes)
        if (written == line[i]) found = &meant;
    expect(found != nullptr, ErrorKind::file, "{}: a backslash must be followed by n, r, t, s, 0 or another backslash",
           where);
    token += *found;
  }
  return token;
}

}  // namespace heed::text
