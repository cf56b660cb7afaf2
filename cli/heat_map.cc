#include "cli/heat_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <span>
#include <string_view>

#include "cli/columns.h"
#include "cli/order.h"

namespace heed::cli {

namespace {

constexpr const char* kLeftToRightMark = "\u200e";

/// Weights from 0.005 up leave a trace, so that zeros (sparsemax, masks) look different from small weights.
const char* shade(float w) {
  static constexpr std::array<const char*, 5> kShades = {"·", "░", "▒", "▓", "█"};
  return kShades[w < 0.005f ? 0 : static_cast<size_t>(std::min(1.0f + std::sqrt(w) * 4.0f, 4.0f))];
}

/// From nearly black through violet and orange to pale yellow. Lightness rises evenly, so it works in grey as well.
std::string background(float w) {
  static constexpr std::array<std::array<float, 3>, 5> kRamp = {
      {{24, 22, 32}, {87, 23, 110}, {188, 55, 84}, {249, 142, 9}, {252, 250, 164}}};
  static const bool full_colour = [] {
    const char* value = std::getenv("COLORTERM");
    return value && (std::string_view(value) == "truecolor" || std::string_view(value) == "24bit");
  }();
  const float place = std::sqrt(w) * (kRamp.size() - 1);  // small weights matter to the eye
  const size_t low = std::min(static_cast<size_t>(place), kRamp.size() - 2);
  std::array<int, 3> rgb{};
  for (size_t n = 0; n < 3; ++n)
    rgb[n] =
        static_cast<int>(std::lround(std::lerp(kRamp[low][n], kRamp[low + 1][n], place - static_cast<float>(low))));
  if (full_colour) return order(fmt::format("\033[48;2;{};{};{}m", rgb[0], rgb[1], rgb[2]));
  // The nearest colour of the 6 x 6 x 6 cube; its levels are 0, 95, 135, 175, 215, 255.
  const auto level = [](int x) { return x < 48 ? 0 : x < 115 ? 1 : (x - 35) / 40; };
  return order(fmt::format("\033[48;5;{}m", 16 + 36 * level(rgb[0]) + 6 * level(rgb[1]) + level(rgb[2])));
}

float drawable(float weight) { return std::isfinite(weight) ? std::clamp(weight, 0.0f, 1.0f) : 0.0f; }

/// A visible label.
std::string label(const Letter& letter) {
  std::string text = letter.text == " " || letter.text == "\u00a0" || letter.text == "\u202f" ? "␣" : letter.text;
  if (columns_of(text) == 0 && !text.empty()) text = "\u25cc" + text;  // a mark without a letter: on a dotted circle
  // The mark keeps a terminal that supports right-to-left text from reversing the row of labels.
  return letter.right_to_left ? kLeftToRightMark + text + kLeftToRightMark : text;
}

float weight_of(const WeightColumn& column, const std::vector<float>& row) {
  float sum = 0.0f;
  for (size_t i = column.first; i < std::min(column.last, row.size()); ++i) sum += row[i];
  return sum;
}

size_t widest_of(const std::vector<std::string>& labels) {
  size_t widest = 1;
  for (const std::string& each : labels) widest = std::max(widest, columns_of(each));
  return widest;
}

/// The columns of the terminal that are left beside the labels of the rows.
size_t room_beside(size_t before, const Terminal& terminal) {
  return terminal.width() > before ? terminal.width() - before : 1;
}

/// The columns that fit, from the first one on: at least one.
std::span<const WeightColumn> piece_of(std::span<const WeightColumn> columns, size_t room) {
  size_t count = 0;
  for (size_t used = 0; count < columns.size(); ++count) {
    used += columns[count].width;
    if (used > room && count > 0) break;
  }
  return columns.first(count);
}

std::string head_of(std::span<const WeightColumn> columns, size_t before) {
  size_t tallest = 0;
  for (const WeightColumn& column : columns) tallest = std::max(tallest, column.label.size());
  std::string text;
  for (size_t line = 0; line < tallest; ++line) {
    std::string row(before, ' ');
    for (const WeightColumn& column : columns) {
      const size_t empty = tallest - column.label.size();
      const std::string letter = line < empty ? "" : column.label[line - empty];
      row += letter + std::string(column.width - std::min(columns_of(letter), column.width), ' ');
    }
    text += row.substr(0, row.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

}  // namespace

std::string weight_cell(float weight, size_t columns, bool colour) {
  const float w = drawable(weight);
  if (colour) return background(w) + std::string(columns, ' ') + order("\033[0m");
  std::string text;
  for (size_t i = 0; i < columns; ++i) text += shade(w);
  return text;
}

std::string on_weight(const std::string& text, float weight, bool colour) {
  if (!colour) return text;
  const float w = drawable(weight);
  return background(w) + order(w > 0.4f ? "\033[38;5;16m" : "\033[38;5;231m") + text + order("\033[0m");
}

std::string weight_map(const WeightMap& map, const Terminal& terminal) {
  const size_t widest = widest_of(map.rows), before = widest + 4, room = room_beside(before, terminal);
  std::string text;
  for (std::span<const WeightColumn> rest = map.columns; !rest.empty();) {
    const std::span<const WeightColumn> piece = piece_of(rest, room);
    text += (text.empty() ? "" : "\n") + head_of(piece, before);
    for (size_t r = 0; r < map.rows.size(); ++r) {
      text += std::string(2 + widest - columns_of(map.rows[r]), ' ') + terminal.bold(map.rows[r]) + "  ";
      for (const WeightColumn& column : piece)
        text += weight_cell(weight_of(column, map.weights[r]), column.width, terminal.colour());
      text += "\n";
    }
    rest = rest.subspan(piece.size());
  }
  return text;
}

std::string heat_map(const AlignmentPicture& picture, const Terminal& terminal) {
  const std::vector<Letter> letters = letters_as_seen(picture.source);
  // Two columns per letter look like squares; if they do not fit, one column must do.
  size_t all = 0;
  for (const Letter& letter : letters) all += std::max<size_t>(letter.columns, 2);
  const size_t least = all <= room_beside(widest_of(picture.rows) + 4, terminal) ? 2 : 1;
  WeightMap map{.columns = {}, .rows = picture.rows, .weights = picture.weights};
  for (const Letter& letter : letters)
    map.columns.push_back({.label = {label(letter)},
                           .width = std::max(letter.columns, least),
                           .first = letter.first,
                           .last = letter.last});
  return weight_map(map, terminal);
}

}  // namespace heed::cli
