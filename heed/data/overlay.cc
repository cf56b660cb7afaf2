#include "heed/data/overlay.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "heed/base/error.h"

namespace heed::data {

namespace {

constexpr std::array<uint8_t, 3> kFrame = {255, 140, 0};

/// The cell that a pixel of a side belongs to.
int64_t cell_of(int64_t pixel, int64_t pixels, int64_t cells) { return pixel * cells / pixels; }

void paste(const Picture& from, int64_t top, int64_t left, Picture& to) {
  for (int64_t y = 0; y < from.height; ++y) std::copy_n(from.pixel(y, 0), from.width * 3, to.pixel(top + y, left));
}

}  // namespace

Picture lay_over(const Picture& picture, std::span<const float> weights, CellMap map) {
  expect(std::ssize(weights) == map.rows * map.columns && !weights.empty(), ErrorKind::bug,
         "{} weights for a map of {} x {} cells", weights.size(), map.rows, map.columns);
  constexpr float kDarkest = 0.2f;
  const auto most = std::max_element(weights.begin(), weights.end());
  const auto best = static_cast<int64_t>(most - weights.begin());
  const int64_t thick = std::max<int64_t>(1, std::max(picture.height, picture.width) / 96);
  Picture shown = picture;
  const auto cell_at = [&](int64_t y, int64_t x) {
    return cell_of(y, picture.height, map.rows) * map.columns + cell_of(x, picture.width, map.columns);
  };
  // Near the border of the cell: `thick` pixels further there is another, or none.
  const auto is_frame = [&](int64_t y, int64_t x) {
    for (const auto& [dy, dx] : {std::pair<int64_t, int64_t>{thick, 0}, {-thick, 0}, {0, thick}, {0, -thick}}) {
      const int64_t to_y = y + dy, to_x = x + dx;
      if (to_y < 0 || to_y >= picture.height || to_x < 0 || to_x >= picture.width || cell_at(to_y, to_x) != best)
        return true;
    }
    return false;
  };
  for (int64_t y = 0; y < picture.height; ++y)
    for (int64_t x = 0; x < picture.width; ++x) {
      const int64_t cell = cell_at(y, x);
      if (cell == best && is_frame(y, x)) {
        std::copy(kFrame.begin(), kFrame.end(), shown.pixel(y, x));
        continue;
      }
      const float share = *most > 0 ? std::clamp(weights[static_cast<size_t>(cell)] / *most, 0.0f, 1.0f) : 0.0f;
      const float light = kDarkest + (1.0f - kDarkest) * share;
      for (int c = 0; c < 3; ++c)
        shown.pixel(y, x)[c] = static_cast<uint8_t>(light * static_cast<float>(picture.pixel(y, x)[c]));
    }
  return shown;
}

Picture panels(const Picture& picture, const std::vector<std::vector<float>>& weights, CellMap map, int64_t longest) {
  constexpr int64_t kInARow = 6, kGap = 8;
  constexpr uint8_t kWhite = 255;
  const int64_t side = std::max(picture.height, picture.width);
  const auto scale = [&](int64_t pixels) { return std::max<int64_t>(1, pixels * longest / side); };
  const Picture one = scaled(picture, {scale(picture.height), scale(picture.width)});
  const int64_t count = std::ssize(weights) + 1, columns = std::min(count, kInARow);
  const int64_t rows = (count + columns - 1) / columns;
  Picture all(rows * one.height + (rows - 1) * kGap, columns * one.width + (columns - 1) * kGap, kWhite);
  for (int64_t i = 0; i < count; ++i)
    paste(i == 0 ? one : lay_over(one, weights[static_cast<size_t>(i - 1)], map), i / columns * (one.height + kGap),
          i % columns * (one.width + kGap), all);
  return all;
}

}  // namespace heed::data
