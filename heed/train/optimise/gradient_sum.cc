#include "heed/train/optimise/gradient_sum.h"

#include <bit>
#include <utility>

#include "heed/base/error.h"
#include "heed/tensor/parallel.h"

namespace heed::optimise {

int64_t gradients_at_once(int64_t count) { return std::bit_width(static_cast<uint64_t>(count)); }

void GradientSum::begin(int64_t count) {
  expect(count >= 1, "gradients: an update must have at least 1 batch, not {}", count);
  count_ = count;
  batch_ = 0;
  parameters_->forget_gradients();
  for (auto& [parameter, sums] : sums_) {
    sums.next = 0;
    // An update that ended early left some.
    for (std::vector<float>& each : sums.waiting)
      if (!each.empty()) sums.spare.push_back(std::exchange(each, {}));
  }
}

void GradientSum::add_waiting(std::vector<float>& earlier, Parameter& p) {
  if (!p.has_gradient) {
    p.gradient.swap(earlier);
    p.has_gradient = true;
    return;
  }
  for_pieces(p.size(), 1, [left = earlier.data(), sum = p.gradient.data()](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) sum[i] = left[i] + sum[i];
  });
}

void GradientSum::add(Parameter& p) {
  if (count_ == 1) return;
  Sums& sums = sums_[&p];
  expect(sums.next == batch_, ErrorKind::bug, "gradients: that of '{}' was added twice", p.name);
  sums.next = batch_ + 1;
  const bool last = batch_ + 1 == count_;
  // The sums that wait are the bits of the number of batches before this one. As in counting, this batch joins those
  // of its own size first; the last one joins all.
  size_t level = 0;
  for (int64_t before = batch_; before % 2 == 1 || (last && before > 0); before /= 2, ++level) {
    if (before % 2 == 0 || sums.waiting[level].empty()) continue;
    add_waiting(sums.waiting[level], p);
    if (!sums.waiting[level].empty()) sums.spare.push_back(std::exchange(sums.waiting[level], {}));
  }
  if (last) return;
  if (sums.waiting.size() <= level) sums.waiting.resize(level + 1);
  if (!p.has_gradient) return;
  std::vector<float> next;
  if (!sums.spare.empty()) {
    next = std::move(sums.spare.back());
    sums.spare.pop_back();
  }
  sums.waiting[level] = std::exchange(p.gradient, std::move(next));
  p.has_gradient = false;
}

void GradientSum::end_batch() {
  if (count_ == 1) return;
  for (Parameter& p : *parameters_)
    if (p.trainable && sums_[&p].next == batch_) add(p);
  ++batch_;
}

}  // namespace heed::optimise
