#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "heed/base/error.h"
#include "heed/view/draw.h"
#include "heed/view/layout.h"

namespace heed::view {

namespace {

constexpr int kCell = 16;             // pixels
constexpr size_t kLongestToken = 24;  // columns

/// How strongly a weight is painted; 0: not at all. Small weights matter, so it is the square root; below 0.005, and
/// for NaN, there is nothing to see.
double opacity_of(float weight) {
  const double shown = std::sqrt(std::min(std::abs(static_cast<double>(weight)), 1.0));
  return shown >= 0.07 ? shown : 0.0;
}

std::vector<std::string> labels_of(const std::vector<std::string>& tokens) {
  std::vector<std::string> labels;
  labels.reserve(tokens.size());
  for (const std::string& token : tokens) labels.push_back(token_label(token, kLongestToken));
  return labels;
}

int widest_of(const std::vector<std::string>& labels) {
  int room = kTextColumn;
  for (const std::string& label : labels) room = std::max(room, room_of(label));
  return room;
}

/// Squares of a few weights, each with its number. Returns where it ends.
int add_legend(Drawing& drawing, int x, int y, bool below_zero) {
  std::vector<float> shown = {0.01f, 0.1f, 0.25f, 0.5f, 1.0f};
  if (below_zero) shown.insert(shown.begin(), {-1.0f, -0.25f});
  drawing.shapes.push_back(
      Label{.text = "weight", .x = x, .y = y + kCell - 4, .room = 7 * kTextColumn, .ink = Ink::faint});
  x += 7 * kTextColumn;
  for (const float weight : shown) {
    const std::string number = fmt::format("{:g}", weight);
    const int room = room_of(number);
    drawing.shapes.push_back(Fill{{x, y, kCell - 1, kCell - 1}, Ink::frame});
    drawing.shapes.push_back(Fill{{x, y, kCell - 1, kCell - 1}, weight > 0 ? Ink::on : Ink::off, opacity_of(weight)});
    x += kCell + kGap / 2;
    drawing.shapes.push_back(Label{.text = number, .x = x, .y = y + kCell - 4, .room = room, .ink = Ink::faint});
    x += room + 2 * kGap;
  }
  return x;
}

}  // namespace

Drawing drawing_of(const Matrix& matrix) {
  const std::vector<std::string> row_labels = labels_of(matrix.rows), column_labels = labels_of(matrix.columns);
  const int columns = static_cast<int>(column_labels.size()), rows = static_cast<int>(row_labels.size());
  expect(matrix.weights.size() == row_labels.size() * column_labels.size(), ErrorKind::bug,
         "view: {} weights for {} x {} labels", matrix.weights.size(), rows, columns);
  const int beside = widest_of(row_labels), above = widest_of(column_labels);
  const bool upright = above <= 2 * kTextColumn;  // single letters need no turning
  const int left = beside + 2 * kGap;
  Drawing drawing{.title = matrix.title, .width = left + columns * kCell + kGap};
  const int first = matrix.caption.empty() ? 0 : add_caption(drawing, matrix.caption);
  const int top = first + (upright ? kCell + kGap : above + 2 * kGap);
  drawing.height = top + rows * kCell + 1;
  drawing.shapes.push_back(Fill{{left, top, columns * kCell, rows * kCell}, Ink::frame});
  for (int c = 0; c < columns; ++c)
    drawing.shapes.push_back(Label{.text = column_labels[static_cast<size_t>(c)],
                                   .x = left + c * kCell + kCell / 2 + (upright ? 0 : 4),
                                   .y = top - kGap,
                                   .room = upright ? kCell : above,
                                   .anchor = upright ? Anchor::middle : Anchor::start,
                                   .turned = !upright});
  bool below_zero = false;
  for (int r = 0; r < rows; ++r) {
    const int y = top + r * kCell;
    drawing.shapes.push_back(Label{.text = row_labels[static_cast<size_t>(r)],
                                   .x = left - kGap,
                                   .y = y + kCell - 4,
                                   .room = beside,
                                   .anchor = Anchor::end});
    for (int c = 0; c < columns; ++c) {
      const float weight = matrix.weights[static_cast<size_t>(r) * column_labels.size() + static_cast<size_t>(c)];
      below_zero |= weight < 0;
      if (const double opacity = opacity_of(weight); opacity > 0)
        drawing.shapes.push_back(
            Fill{{left + c * kCell, y, kCell - 1, kCell - 1}, weight > 0 ? Ink::on : Ink::off, opacity});
    }
  }
  if (matrix.legend) {
    const int end = add_legend(drawing, kGap, drawing.height + kGap, below_zero);
    drawing.width = std::max(drawing.width, end);
    drawing.height += kCell + 2 * kGap;
  }
  return drawing;
}

}  // namespace heed::view
