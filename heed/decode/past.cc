#include "heed/decode/past.h"

#include <algorithm>

namespace heed::decode {

namespace {
constexpr int64_t kFirstCapacity = 8;
}

Past::Past(int64_t rows, int64_t longest)
    : rows_(rows), longest_(longest), capacity_(std::min(longest, kFirstCapacity)) {}

Tensor Past::on(Tape& tape, Part& part) const {
  if (part.width == 0) return {};
  return tape.input(part.data.data(), rows_ * capacity_, part.width);
}

void Past::adopt(Part& part, Tensor made) const {
  if (!made) return;  // a score that reads no keys
  part.width = made.cols();
  part.data.assign(made.data(), made.data() + made.size());
}

void Past::grow() {
  const int64_t more = std::min(longest_, capacity_ + capacity_ / 2);
  for (Part* part : {&keys_, &values_}) {
    std::vector<float> wider(static_cast<size_t>(rows_ * more * part->width));
    for (int64_t r = 0; r < rows_; ++r)
      std::copy_n(part->data.begin() + r * capacity_ * part->width, filled_ * part->width,
                  wider.begin() + r * more * part->width);
    part->data = std::move(wider);
  }
  capacity_ = more;
}

attend::Prepared Past::extend(const attend::Mechanism& mechanism, const Packed& x) {
  Tape& tape = x.rows.tape();
  if (filled_ == capacity_ && capacity_ < longest_) grow();
  attend::Prepared so_far = mechanism.begin(tape, rows_, capacity_);
  so_far.filled = filled_;
  so_far.keys = on(tape, keys_);
  so_far.values = on(tape, values_);
  const attend::Prepared now = mechanism.extend(so_far, {x});
  if (filled_ == 0) {  // the mechanism knows how wide they are
    adopt(keys_, now.keys);
    adopt(values_, now.values);
  }
  ++filled_;
  return now;
}

void Past::select(std::span<const int64_t> rows) {
  for (Part* part : {&keys_, &values_}) select_rows(part->data, capacity_ * part->width, filled_ * part->width, rows);
  rows_ = static_cast<int64_t>(rows.size());
}

}  // namespace heed::decode
