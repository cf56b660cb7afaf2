// What a thread keeps between calls.
//   arena    parts and plan of a call: at most CallArena::kKept, 1 MiB
//   scratch  the tiles of a block: explain() says how many bytes a problem needs; what the largest one so far needed is
//            kept
// Both only grow, and go when the thread ends.
#pragma once

#include "heed/kernels/loop/call_arena.h"
#include "heed/kernels/loop/scratch.h"

namespace heed::kernels {

struct ThreadMemory {
  CallArena arena;
  Scratch scratch;
  ThreadMemory* next = nullptr;  // while it is idle
};

/// The memory of this thread, until the end of a scope. A call inside a call (a user's score that asks the library for
/// something) finds it taken and gets another.
class ThreadMemoryLease {
 public:
  ThreadMemoryLease();
  ThreadMemoryLease(const ThreadMemoryLease&) = delete;
  ThreadMemoryLease& operator=(const ThreadMemoryLease&) = delete;
  ~ThreadMemoryLease();

  ThreadMemory& operator*() const { return *memory_; }
  ThreadMemory* operator->() const { return memory_; }

 private:
  ThreadMemory* memory_;
};

}  // namespace heed::kernels
