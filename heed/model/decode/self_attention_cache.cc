#include "heed/model/decode/self_attention_cache.h"

#include <algorithm>
#include <utility>

#include "heed/tensor/off_tape_matrix.h"

namespace heed::decode {

namespace {
constexpr int64_t kFirstCapacity = 8;
}

SelfAttentionCache::SelfAttentionCache(const attend::Mechanism& mechanism, int64_t longest)
    : mechanism_(&mechanism), longest_(longest), capacity_(std::min(longest, kFirstCapacity)) {}

Tensor SelfAttentionCache::Rows::on(Tape& tape, int64_t rows) {
  return width == 0 ? Tensor() : tape.in_place(data.data(), rows, width);
}

void SelfAttentionCache::Rows::adopt(Tensor made) {
  if (!made) return;  // a score that reads no keys
  width = made.cols();
  data.assign(made.data(), made.data() + made.size());
}

void SelfAttentionCache::grow(int64_t rows, int64_t filled) {
  const int64_t more = std::min(longest_, capacity_ + capacity_ / 2);
  for (Rows* part : {&keys_, &values_}) {
    std::vector<float> wider(static_cast<size_t>(rows * more * part->width));
    for (int64_t r = 0; r < rows; ++r)
      std::copy_n(part->data.begin() + r * capacity_ * part->width, filled * part->width,
                  wider.begin() + r * more * part->width);
    part->data = std::move(wider);
  }
  capacity_ = more;
}

Tensor SelfAttentionCache::attend(Tensor x, int64_t step) {
  Tape& tape = x.tape();
  const int64_t rows = x.rows();
  if (step == capacity_ && capacity_ < longest_) grow(rows, step);
  attend::PreparedMemory so_far = mechanism_->begin(tape, rows, capacity_);
  so_far.filled = step;
  so_far.keys = keys_.on(tape, rows * capacity_);
  so_far.values = values_.on(tape, rows * capacity_);
  const Packed packed{x, tape.even_offsets(rows, 1)};
  const attend::PreparedMemory now = mechanism_->extend(so_far, {packed});
  if (step == 0) {  // the mechanism knows how wide they are
    keys_.adopt(now.keys);
    values_.adopt(now.values);
  }
  return mechanism_->attend({packed}, now, attend::State(step)).context;
}

void SelfAttentionCache::select(std::span<const int64_t> rows, int64_t steps) {
  for (Rows* part : {&keys_, &values_}) select_rows(part->data, capacity_ * part->width, steps * part->width, rows);
}

}  // namespace heed::decode
