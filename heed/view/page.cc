#include "heed/view/page.h"

#include "heed/tensor/error.h"
#include "heed/view/json.h"

namespace heed::view {

std::string html_text(const Document& document) {
  expect(!page_html().empty(), "there is no page: heed was built without npm");
  std::string page(page_html());
  return page + json_of(document, Precision::drawn).line();
}

std::string_view page_html() { return {}; }

}  // namespace heed::view
