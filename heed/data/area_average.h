// Scales a picture by averaging areas. All sums are integers, so the result does not depend on the order of anything.
#pragma once

#include <cstdint>
#include <vector>

#include "heed/data/picture.h"

namespace heed::data {

/// Takes the rows from the top to the bottom.
class AreaAverage {
 public:
  AreaAverage(PictureSize from, PictureSize to);

  void add_row(const uint8_t* rgb);  // [from.width, 3]
  Picture result() const;            // after from.height rows

 private:
  PictureSize from_, to_;
  int64_t rows_ = 0;
  std::vector<uint64_t> row_;   // [to.width, 3]: of one row, times the widths of the overlaps
  std::vector<uint64_t> sums_;  // [to.height, to.width, 3]: times their heights too
};

}  // namespace heed::data
