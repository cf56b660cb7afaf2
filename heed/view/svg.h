// A drawing as SVG.
#pragma once

#include <string>
#include <string_view>

#include "heed/view/drawing.h"

namespace heed::view {

/// Where its colours come from.
enum class Colours {
  own,   // a file of its own: light and dark as the reader's system is
  page,  // of the page around it: the classes are the names of Ink, such as frame, on and off
};

std::string svg_text(const Drawing& drawing, Colours colours);

/// Text as HTML and SVG show it. Control characters, which XML does not allow, and bytes that are no text become
/// U+FFFD.
std::string escaped(std::string_view text);

}  // namespace heed::view
