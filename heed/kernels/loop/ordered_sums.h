// Sums that several tasks add to, in a fixed order: task by task, whatever thread runs them. So a result has the same
// bits for any number of threads, without a copy per thread. Tasks are handed out in order, so a task that another
// waits for is always running or done, and neighbours run one tile apart like a pipeline instead of in lockstep.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

#include "heed/kernels/loop/call_arena.h"

namespace heed::kernels {

class OrderedSums {
 public:
  OrderedSums(size_t slots, CallArena& arena) : slots_(slots), count_(arena.array<int32_t>(slots)), arena_(arena) {}

  /// While planning, in task order: the next visit to `slot`. Returns its rank among the visits.
  int32_t enlist(size_t slot) { return count_[slot]++; }

  int32_t visits(size_t slot) const { return count_[slot]; }

  /// After planning. If no slot has a second visit, no task ever waits.
  void start() {
    for (size_t slot = 0; slot < slots_; ++slot) contended_ |= count_[slot] > 1;
    if (contended_) done_ = arena_.array<std::atomic<int32_t>>(slots_);
  }

  bool contended() const { return contended_; }

  void wait(size_t slot, int32_t rank) const {
    if (!contended_) return;
    for (int spins = 0; done_[slot].load(std::memory_order_acquire) != rank; ++spins)
      if (spins > 200) std::this_thread::yield();  // more threads than cores
  }
  void pass(size_t slot, int32_t rank) {
    if (contended_) done_[slot].store(rank + 1, std::memory_order_release);
  }

 private:
  size_t slots_;
  int32_t* count_;
  CallArena& arena_;
  bool contended_ = false;
  std::atomic<int32_t>* done_ = nullptr;
};

}  // namespace heed::kernels
