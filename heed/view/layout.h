// What the layouts of drawings share.
#pragma once

#include <string>
#include <string_view>

#include "heed/view/drawing.h"

namespace heed::view {

inline constexpr int kGap = 6, kLine = 16;  // pixels: between parts, and of a line of text

/// The width that is left for a text, in pixels.
int room_of(std::string_view text);

/// A line at the top, for which the drawing becomes wide enough. Returns where the rest begins.
int add_caption(Drawing& drawing, const std::string& caption);

/// Spaces can be seen, bytes that are no text become U+FFFD, and what is longer than `columns` is cut.
std::string token_label(const std::string& token, size_t columns);

}  // namespace heed::view
