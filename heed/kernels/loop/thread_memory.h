// What a thread keeps between calls.
//   arena    parts and plan of a call: at most CallArena::kKept, 1 MiB
//   scratch  the tiles of a block: explain() says how many bytes a problem needs; what the largest one so far needed is
//            kept
// Both only grow, and go when the thread ends.
#pragma once

#include <atomic>
#include <new>

#include "heed/kernels/loop/call_arena.h"
#include "heed/kernels/loop/scratch.h"
#include "heed/kernels/threads.h"

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
  ThreadMemoryLease();  // throws std::bad_alloc
  ThreadMemoryLease(const ThreadMemoryLease&) = delete;
  ThreadMemoryLease& operator=(const ThreadMemoryLease&) = delete;
  ~ThreadMemoryLease();

  ThreadMemory& operator*() const { return *memory_; }
  ThreadMemory* operator->() const { return memory_; }

 private:
  ThreadMemory* memory_;
};

/// Runs work(memory) on the calling thread, whose memory is `own`, and on helpers (on_threads()) with theirs. False:
/// one of them found too little; then its call of `work` returned false or threw std::bad_alloc, which must not happen
/// once it has begun something that others wait for.
template <class Work>
bool on_threads_with_memory(int threads, ThreadMemory& own, Work&& work) {
  std::atomic<bool> enough{true};
  on_threads(threads, [&](bool helper) {
    try {
      if (!(helper ? work(*ThreadMemoryLease()) : work(own))) enough = false;
    } catch (const std::bad_alloc&) {  // past a helper's last function it would end the program
      enough = false;
    }
  });
  return enough;
}

}  // namespace heed::kernels
