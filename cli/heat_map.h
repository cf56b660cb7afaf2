// Where a model looked, as a picture made of characters: the source across, the target down.
#pragma once

#include <string>
#include <vector>

#include "cli/terminal.h"

namespace heed::cli {

struct AlignmentPicture {
  std::string source;                       // its code points are the columns
  std::vector<std::string> rows;            // a label each
  std::vector<std::vector<float>> weights;  // [rows][code points of the source], from 0 to 1
};

/// A reader's letters share a column: the weights of a base and of the marks on it are added. Right-to-left text stands
/// as it is read, from right to left. Colours where the terminal has them, shades elsewhere; a source that is wider
/// than the terminal is drawn in several pieces below each other.
std::string heat_map(const AlignmentPicture& picture, const Terminal& terminal);

}  // namespace heed::cli
