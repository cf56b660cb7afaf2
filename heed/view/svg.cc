#include "heed/view/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace heed::view {

namespace {

constexpr int kCell = 16, kLetter = 7, kGap = 6;  // pixels
constexpr size_t kLongestLabel = 24;              // letters, for the room that is left free

constexpr const char* kStyle = R"css(<style>
text { fill: #1a1c20; font: 11px ui-monospace, monospace; } .frame { fill: #f4f6f9; } .on { fill: #b3261e; }
.off { fill: #1f5fbf; }
@media (prefers-color-scheme: dark) { text { fill: #e6e8ec; } .frame { fill: #1b1f26; } .on { fill: #ffb45c; }
  .off { fill: #6cb2ff; } }
</style>
)css";

/// Code points: near enough for the room that a label needs.
size_t letters(const std::string& text) {
  const auto count = std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; });
  return std::min(static_cast<size_t>(count), kLongestLabel);
}

/// Spaces are shown, and a long label is cut.
std::string label(const std::string& token) {
  if (token == " ") return "␣";
  if (letters(token) < kLongestLabel) return escaped(token);
  size_t end = 0;
  for (size_t n = 0; end < token.size(); ++end)
    if ((token[end] & 0xC0) != 0x80 && ++n == kLongestLabel) break;
  return escaped(token.substr(0, end)) + "…";
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    if (c == '&')
      safe += "&amp;";
    else if (c == '<')
      safe += "&lt;";
    else if (c == '>')
      safe += "&gt;";
    else if (c == '"')
      safe += "&quot;";
    else if (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t')
      safe += "\xEF\xBF\xBD";
    else
      safe += c;
  }
  return safe;
}

std::string svg_text(const Matrix& matrix, Colours colours) {
  size_t widest = 1, tallest = 1;
  for (const std::string& row : matrix.rows) widest = std::max(widest, letters(row));
  for (const std::string& column : matrix.columns) tallest = std::max(tallest, letters(column));
  const bool upright = tallest == 1;  // single letters need no turning
  const int left = static_cast<int>(widest) * kLetter + 2 * kGap;
  const int top = upright ? kCell + kGap : static_cast<int>(tallest) * kLetter + 2 * kGap;
  const int columns = static_cast<int>(matrix.columns.size()), rows = static_cast<int>(matrix.rows.size());
  const int width = left + columns * kCell + 1, height = top + rows * kCell + 1;

  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" role=\"img\">"
      "<title>{2}</title>\n{3}<rect class=\"frame\" x=\"{4}\" y=\"{5}\" width=\"{6}\" height=\"{7}\"/>\n",
      width, height, escaped(matrix.title), colours == Colours::own ? kStyle : "", left, top, columns * kCell,
      rows * kCell);
  for (int c = 0; c < columns; ++c) {
    const int x = left + c * kCell + kCell / 2 + (upright ? 0 : 4), y = top - kGap;
    const std::string turn = upright ? "text-anchor=\"middle\"" : fmt::format("transform=\"rotate(-90 {} {})\"", x, y);
    svg +=
        fmt::format("<text x=\"{}\" y=\"{}\" {}>{}</text>", x, y, turn, label(matrix.columns[static_cast<size_t>(c)]));
  }
  svg += "\n";
  for (int r = 0; r < rows; ++r) {
    const int y = top + r * kCell;
    svg += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>", left - kGap, y + kCell - 4,
                       label(matrix.rows[static_cast<size_t>(r)]));
    for (int c = 0; c < columns; ++c) {
      const float weight = matrix.weights[static_cast<size_t>(r) * matrix.columns.size() + static_cast<size_t>(c)];
      const double shown = std::sqrt(std::min(std::abs(static_cast<double>(weight)), 1.0));  // small weights matter
      if (!(shown >= 0.07)) continue;                                                        // below 0.005, and NaN
      svg += fmt::format("<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill-opacity=\"{:.2f}\"/>",
                         weight > 0 ? "on" : "off", left + c * kCell, y, kCell - 1, kCell - 1, shown);
    }
    svg += "\n";
  }
  return svg + "</svg>\n";
}

}  // namespace heed::view
