#include "heed/view/page.h"

#include "heed/base/error.h"
#include "heed/view/json.h"

namespace heed::view {

namespace {

constexpr std::string_view kMark = "HEED_ATTENTION_DOCUMENT";  // stands in the page exactly once

/// So that no text in it can end the element that holds it.
std::string inside_script(const std::string& json) {
  std::string safe;
  safe.reserve(json.size());
  for (const char c : json)
    if (c == '<')
      safe += "\\u003c";
    else
      safe += c;
  return safe;
}

}  // namespace

std::string html_text(const Document& document) {
  const std::string_view page = page_html();
  expect(!page.empty(), "there is no page: heed was built without npm");
  const size_t mark = page.find(kMark);
  expect(mark != std::string_view::npos, ErrorKind::bug, "view: the page has no place for a document");
  std::string text(page.substr(0, mark));
  text += inside_script(json_of(document, Precision::drawn).line());
  return text.append(page.substr(mark + kMark.size()));
}

}  // namespace heed::view
