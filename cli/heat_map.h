// Attention weights as a picture made of characters: the source across, the target down.
#pragma once

#include <string>
#include <vector>

#include "cli/terminal.h"

namespace heed::cli {

struct AlignmentPicture {
  std::string source;                       // its code points are the columns
  std::vector<std::string> rows;            // the label of each
  std::vector<std::vector<float>> weights;  // [rows][code points of the source], from 0 to 1
};

/// `columns` characters in the colour, or without colours in the shade, of a weight from 0 to 1.
std::string weight_cell(float weight, size_t columns, bool colour);
/// A text on that colour, in an ink that can be read on it. Without colours, as it is.
std::string on_weight(const std::string& text, float weight, bool colour);

/// Each letter that a reader sees is one column: the weights of a base and of the marks on it are added. Right-to-left
/// text runs from right to left. With colours if the terminal has them, otherwise in shades. A source wider than the
/// terminal is drawn in several pieces, one below the other.
std::string heat_map(const AlignmentPicture& picture, const Terminal& terminal);

}  // namespace heed::cli
