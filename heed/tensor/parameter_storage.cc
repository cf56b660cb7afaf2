#include "heed/tensor/parameter_storage.h"

#include <algorithm>
#include <cassert>

namespace heed {

float* ParameterStorage::expose() {
  exposed_ = true;
  return data();
}

std::shared_ptr<const PackedWeight> ParameterStorage::packed(const WeightView& weight) const {
  if (!weight.data && is_packed() && weight.order == packed_order_) return only();
  WeightView view = weight;
  if (!view.data) view.data = numbers().data();
  // A tensor made before the values were swapped (the averages of training) views others.
  const bool mine = view.data == numbers_.data();
  if (exposed_ || !mine) return float32_weights.pack(view);
  const std::lock_guard lock(mutex_);
  auto& copy = packed_[static_cast<size_t>(view.order)];
  bool& fresh = fresh_[static_cast<size_t>(view.order)];
  const bool fits = copy && copy->in() == view.in && copy->out() == view.out;
  // Training writes to the weight at every update: the memory of an old copy that is no longer used is reused.
  if (fits && !fresh && copy.use_count() == 1 && &copy->format() == &float32_weights)
    copy->copy(view);
  else if (!fits || !fresh)
    copy = float32_weights.pack(view);
  fresh = true;
  kept_.store(true, std::memory_order_release);
  // Fails if code wrote through a pointer obtained before the copy was made.
  assert(copy->is_copy_of(view));
  return copy;
}

void ParameterStorage::drop() {
  const std::lock_guard lock(mutex_);
  fresh_.fill(false);
  kept_.store(false, std::memory_order_release);
}

void ParameterStorage::pack(const WeightFormat& format, int64_t in, int64_t out, WeightOrder order) {
  if (exposed_) return;
  const WeightView view{.data = numbers().data(), .in = in, .out = out, .order = order};
  auto copy = std::shared_ptr<PackedWeight>(format.pack(view));
  packed_ = {};
  fresh_ = {};
  packed_[static_cast<size_t>(order)] = std::move(copy);
  fresh_[static_cast<size_t>(order)] = true;
  kept_.store(true, std::memory_order_release);
  packed_order_ = order;
  packed_size_ = numbers_.size();
  std::vector<float>().swap(numbers_);
  is_packed_.store(true, std::memory_order_release);
}

/// The packed weight stays, as the copy that it then is.
void ParameterStorage::unpack() const {
  const std::lock_guard lock(mutex_);
  if (!is_packed()) return;  // another thread did
  numbers_.resize(packed_size_);
  only()->unpack(packed_order_, numbers_.data());
  is_packed_.store(false, std::memory_order_release);
}

void ParameterStorage::row(int64_t n, int64_t cols, float* to) const {
  if (is_packed())
    only()->row(packed_order_, n, to);
  else
    std::copy_n(numbers_.data() + n * cols, cols, to);
}

std::vector<float> ParameterStorage::copy() const {
  if (!is_packed()) return numbers_;
  std::vector<float> all(packed_size_);
  only()->unpack(packed_order_, all.data());
  return all;
}

size_t ParameterStorage::bytes() const {
  const std::lock_guard lock(mutex_);
  size_t sum = numbers_.size() * sizeof(float);
  for (const auto& copy : packed_) sum += copy ? copy->bytes() : 0;
  return sum;
}

}  // namespace heed
