#include "heed/data/area_average.h"

#include <algorithm>

#include "heed/base/error.h"

namespace heed::data {

namespace {

/// f(j, overlap) for each of `to` equal parts of a line that the i-th of `from` equal parts overlaps. In units of 1 /
/// (from * to) of the line: i covers [i * to, (i + 1) * to), j covers [j * from, (j + 1) * from).
template <class F>
void for_overlaps(int64_t i, int64_t from, int64_t to, const F& f) {
  const int64_t begin = i * to, end = begin + to;
  for (int64_t j = begin / from; j * from < end; ++j)
    f(j, static_cast<uint64_t>(std::min(end, (j + 1) * from) - std::max(begin, j * from)));
}

}  // namespace

AreaAverage::AreaAverage(PictureSize from, PictureSize to)
    : from_(from),
      to_(to),
      row_(static_cast<size_t>(to.width * 3)),
      sums_(static_cast<size_t>(to.height * to.width * 3)) {}

void AreaAverage::add_row(const uint8_t* rgb) {
  std::fill(row_.begin(), row_.end(), 0);
  for (int64_t x = 0; x < from_.width; ++x)
    for_overlaps(x, from_.width, to_.width, [&](int64_t j, uint64_t overlap) {
      for (int64_t c = 0; c < 3; ++c) row_[static_cast<size_t>(j * 3 + c)] += overlap * rgb[x * 3 + c];
    });
  for_overlaps(rows_++, from_.height, to_.height, [&](int64_t i, uint64_t overlap) {
    uint64_t* sums = sums_.data() + i * to_.width * 3;
    for (size_t n = 0; n < row_.size(); ++n) sums[n] += overlap * row_[n];
  });
}

Picture AreaAverage::result() const {
  expect(rows_ == from_.height, ErrorKind::bug, "{} of {} rows were averaged", rows_, from_.height);
  Picture picture(to_.height, to_.width);
  const auto area = static_cast<uint64_t>(from_.height * from_.width);  // of a part, in those units
  for (size_t n = 0; n < sums_.size(); ++n) picture.rgb[n] = static_cast<uint8_t>((sums_[n] + area / 2) / area);
  return picture;
}

}  // namespace heed::data
