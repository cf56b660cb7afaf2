// Attention weights as a picture made of characters: the keys across, the queries down. Every map on a terminal has
// this layout.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cli/terminal.h"

namespace heed::cli {

/// A column of a map.
struct WeightColumn {
  std::vector<std::string> label;  // a letter each, from top to bottom; the last one stands on the cells
  size_t width = 2;                // in columns of the terminal: two look like a square
  size_t first = 0, last = 0;      // of a row, the weights [first, last), which are added
};

struct WeightMap {
  std::vector<WeightColumn> columns;
  std::vector<std::string> rows;            // the label of each
  std::vector<std::vector<float>> weights;  // of each
};

/// With colours if the terminal has them, otherwise in shades. What is wider than the terminal is drawn in several
/// pieces, one below the other.
std::string weight_map(const WeightMap& map, const Terminal& terminal);

struct AlignmentPicture {
  std::string source;                       // its code points are the columns
  std::vector<std::string> rows;            // the label of each
  std::vector<std::vector<float>> weights;  // [rows][code points of the source], from 0 to 1
};

/// `columns` characters in the colour, or without colours in the shade, of a weight from 0 to 1.
std::string weight_cell(float weight, size_t columns, bool colour);
/// A text on that colour, in an ink that can be read on it. Without colours, as it is.
std::string on_weight(const std::string& text, float weight, bool colour);

/// A map in which each letter that a reader sees is one column: the weights of a base and of the marks on it are added.
/// Right-to-left text runs from right to left.
std::string heat_map(const AlignmentPicture& picture, const Terminal& terminal);

}  // namespace heed::cli
