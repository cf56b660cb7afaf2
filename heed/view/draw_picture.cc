#include <algorithm>
#include <cmath>
#include <span>

#include "heed/base/error.h"
#include "heed/view/draw.h"
#include "heed/view/layout.h"

namespace heed::view {

namespace {

constexpr int kLongestSide = 192;  // pixels
constexpr int kMostInARow = 6;
constexpr double kDarkest = 0.8;

/// Where the cells of a side begin and end, in whole pixels, so that no seam shows between them.
int edge(int64_t cell, int64_t cells, int side) { return static_cast<int>(cell * side / cells); }

void add_cells(Drawing& drawing, Box box, const SeenPicture& picture, std::span<const float> weights) {
  const auto most = std::max_element(weights.begin(), weights.end());
  const auto best = most - weights.begin();
  for (int64_t row = 0; row < picture.rows; ++row)
    for (int64_t column = 0; column < picture.columns; ++column) {
      const int64_t cell = row * picture.columns + column;
      const int top = edge(row, picture.rows, box.height), left = edge(column, picture.columns, box.width);
      const Box place{box.x + left, box.y + top, edge(column + 1, picture.columns, box.width) - left,
                      edge(row + 1, picture.rows, box.height) - top};
      const float share = *most > 0 ? std::clamp(weights[static_cast<size_t>(cell)] / *most, 0.0f, 1.0f) : 0.0f;
      const double dark = kDarkest * static_cast<double>(1 - share);
      if (dark > 0.01) drawing.shapes.push_back(Fill{place, Ink::night, dark});
      if (cell == best && *most > 0) drawing.shapes.push_back(Outline{.box = place});
    }
}

}  // namespace

Drawing drawing_of(const PicturePanels& panels) {
  const SeenPicture& picture = panels.picture;
  const auto cells = static_cast<size_t>(picture.rows * picture.columns);
  expect(cells > 0 && panels.weights.size() == cells * panels.labels.size(), ErrorKind::bug,
         "view: {} weights for {} rows of {} cells", panels.weights.size(), panels.labels.size(), cells);
  const auto longest = static_cast<double>(std::max(picture.height, picture.width));
  const auto scaled = [&](int64_t side) {
    return std::max(1, static_cast<int>(std::lround(static_cast<double>(side) * kLongestSide / longest)));
  };
  const int width = scaled(picture.width), height = scaled(picture.height);
  const int count = static_cast<int>(panels.labels.size()) + 1, in_a_row = std::min(count, kMostInARow);
  const int rows = (count + in_a_row - 1) / in_a_row;
  Drawing drawing{.title = panels.title, .width = kGap + in_a_row * (width + kGap), .pictures = {picture.png}};
  const int top = add_caption(drawing, panels.caption) + kGap;
  drawing.height = top + rows * (height + kLine + kGap);
  for (int i = 0; i < count; ++i) {
    const Box box{kGap + i % in_a_row * (width + kGap), top + i / in_a_row * (height + kLine + kGap), width, height};
    drawing.shapes.push_back(Image{.box = box});
    if (i == 0) continue;
    const auto row = static_cast<size_t>(i - 1);
    add_cells(drawing, box, picture, std::span(panels.weights).subspan(row * cells, cells));
    drawing.shapes.push_back(
        Label{.text = token_label(panels.labels[row], static_cast<size_t>(std::max(width / kTextColumn, 1))),
              .x = box.x + width / 2,
              .y = box.y + height + kLine - 3,
              .room = width,
              .anchor = Anchor::middle});
  }
  return drawing;
}

}  // namespace heed::view
