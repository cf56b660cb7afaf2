// What a thread keeps between calls.
//   arena    parts and plan of a call: at most CallArena::kKept, 1 MiB
//   scratch  the tiles of a block: explain() says how many bytes a problem needs; what the largest one so far needed is
//            kept
// Both only grow, and are freed when the thread ends.
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

/// The memory of this thread, until the end of a scope. A nested call (a user-defined score that calls the library)
/// finds it taken and gets another.
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
/// one of them ran out of memory; then its call of `work` returned false or threw std::bad_alloc, which must not happen
/// once it has started something that others wait for.
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
