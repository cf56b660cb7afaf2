#include "heed/view/layout.h"

#include <algorithm>

#include "heed/text/bytes.h"
#include "heed/text/columns.h"

namespace heed::view {

int room_of(std::string_view text) { return static_cast<int>(text::columns_of(text)) * kTextColumn; }

int add_caption(Drawing& drawing, const std::string& caption) {
  const int room = room_of(caption);
  drawing.shapes.push_back(Label{.text = caption, .x = kGap, .y = kLine, .room = room});
  drawing.width = std::max(drawing.width, room + 2 * kGap);
  return kLine + kGap;
}

std::string token_label(const std::string& token, size_t columns) {
  return token == " " ? "␣" : text::cut_to(text::repaired(token), columns);
}

}  // namespace heed::view
