#include "cli/heat_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
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

/// A visible label, `columns` wide.
std::string label(const Letter& letter, size_t columns) {
  std::string text = letter.text == " " || letter.text == "\u00a0" || letter.text == "\u202f" ? "␣" : letter.text;
  size_t used = columns_of(text);
  if (used == 0 && !text.empty()) {  // a mark without a letter is shown on a dotted circle
    text = "\u25cc" + text;
    used = 1;
  }
  // The mark keeps a terminal that supports right-to-left text from reversing the row of labels.
  if (letter.right_to_left) text = kLeftToRightMark + text + kLeftToRightMark;
  return text + std::string(columns > used ? columns - used : 0, ' ');
}

float weight_of(const Letter& letter, const std::vector<float>& row) {
  float sum = 0.0f;
  for (size_t i = letter.first; i < std::min(letter.last, row.size()); ++i) sum += row[i];
  return sum;
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

std::string heat_map(const AlignmentPicture& picture, const Terminal& terminal) {
  const std::vector<Letter> letters = letters_as_seen(picture.source);
  size_t label_width = 1;
  for (const std::string& row : picture.rows) label_width = std::max(label_width, columns_of(row));
  const size_t before = label_width + 4, room = terminal.width() > before ? terminal.width() - before : 1;

  // Two columns per letter look like squares; if they do not fit, one column must do.
  size_t all = 0;
  for (const Letter& letter : letters) all += std::max<size_t>(letter.columns, 2);
  const size_t least = all <= room ? 2 : 1;

  std::string text;
  for (size_t begin = 0; begin < letters.size();) {
    std::string head(before, ' ');
    size_t end = begin, used = 0;
    for (; end < letters.size(); ++end) {
      const size_t columns = std::max(letters[end].columns, least);
      if (used + columns > room && end > begin) break;
      used += columns;
      head += label(letters[end], columns);
    }
    text += head.substr(0, head.find_last_not_of(' ') + 1) + "\n";
    for (size_t r = 0; r < picture.rows.size(); ++r) {
      text += std::string(2 + label_width - columns_of(picture.rows[r]), ' ') + terminal.bold(picture.rows[r]) + "  ";
      for (size_t c = begin; c < end; ++c)
        text += weight_cell(weight_of(letters[c], picture.weights[r]), std::max(letters[c].columns, least),
                            terminal.colour());
      text += "\n";
    }
    begin = end;
    if (begin < letters.size()) text += "\n";
  }
  return text;
}

}  // namespace heed::cli
