#include "heed/tensor/parameter_storage.h"

#include <cassert>

namespace heed {

float* ParameterStorage::expose() {
  exposed_ = true;
  return data();
}

std::shared_ptr<const PackedWeight> ParameterStorage::packed(const WeightView& weight) const {
  // A tensor made before the values were swapped (the averages of training) views others.
  const bool mine = weight.data == numbers_.data();
  if (exposed_ || !mine) return std::make_shared<const PackedWeight>(weight);
  const std::lock_guard lock(mutex_);
  auto& copy = packed_[static_cast<size_t>(weight.order)];
  bool& fresh = fresh_[static_cast<size_t>(weight.order)];
  const bool fits = copy && copy->in() == weight.in && copy->out() == weight.out;
  // Training writes to the weight at every update: the memory of an old copy that is no longer used is reused.
  if (fits && !fresh && copy.use_count() == 1)
    copy->copy(weight);
  else if (!fits || !fresh)
    copy = std::make_shared<PackedWeight>(weight);
  fresh = true;
  kept_.store(true, std::memory_order_release);
  // Fails if code wrote through a pointer obtained before the copy was made.
  assert(copy->is_copy_of(weight));
  return copy;
}

void ParameterStorage::drop() {
  const std::lock_guard lock(mutex_);
  fresh_.fill(false);
  kept_.store(false, std::memory_order_release);
}

}  // namespace heed
