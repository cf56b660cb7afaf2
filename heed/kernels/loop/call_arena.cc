#include "heed/kernels/loop/call_arena.h"

#include <algorithm>
#include <bit>

namespace heed::kernels {

void CallArena::clear() {
  // Powers of two: a call that is a little larger than the one before seldom needs more.
  const size_t wanted = std::bit_ceil(total_);
  used_ = total_ = 0;
  if (!last_ || (!last_->before && last_->size <= kKept)) return;
  release();
  if (wanted <= kKept) add_chunk(wanted);
}

void CallArena::grow(size_t bytes) {
  constexpr size_t kFirst = 4096;
  if (!add_chunk(std::max({bytes, kFirst, last_ ? 2 * last_->size : 0}))) throw std::bad_alloc();
}

bool CallArena::add_chunk(size_t size) {
  void* at = ::operator new(sizeof(Chunk) + size, std::align_val_t(kAlign), std::nothrow);
  if (!at) return false;
  last_ = ::new (at) Chunk{last_, size};
  used_ = 0;
  return true;
}

void CallArena::release() {
  while (last_) ::operator delete(std::exchange(last_, last_->before), std::align_val_t(kAlign));
}

}  // namespace heed::kernels
