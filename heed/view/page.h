// The page that shows documents: one file, which is built from web/ and embedded in the program.
#pragma once

#include <string>
#include <string_view>

#include "heed/view/document.h"

namespace heed::view {

/// The page without a document; empty if the program was built without it (cmake/HeedPage.cmake).
std::string_view page_html();

/// The page with the document in it, as one file that needs nothing else. Throws if there is no page.
std::string html_text(const Document& document);

}  // namespace heed::view
