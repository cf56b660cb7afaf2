// Weights as a picture in SVG: the keys across, the queries down, darker for more weight.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heed::view {

struct Matrix {
  std::string title;                 // for screen readers, and shown by browsers
  std::vector<std::string> columns;  // labels
  std::vector<std::string> rows;
  std::vector<float> weights;  // [rows, columns]
};

/// Where its colours come from.
enum class Colours {
  own,   // a file of its own: light and dark as the reader's system is
  page,  // of the page around it: the classes frame, on (weights above 0) and off (below 0)
};

std::string svg_text(const Matrix& matrix, Colours colours);

/// Text as HTML and SVG show it. Control characters, which XML does not allow, become U+FFFD.
std::string escaped(std::string_view text);

}  // namespace heed::view
