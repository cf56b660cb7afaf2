// What a thread keeps between calls.
//   arena    parts and plan of a call: at most Arena::kKept, 1 MiB
//   scratch  the tiles of a block: explain() says how many bytes a problem needs; what the largest one so far needed is
//            kept
// Both only grow, and go when the thread ends.
#pragma once

#include "heed/kernels/loop/arena.h"
#include "heed/kernels/loop/scratch.h"

namespace heed::kernels {

struct Memory {
  Arena arena;
  Scratch scratch;
  Memory* next = nullptr;  // while it is idle
};

/// The memory of this thread, until the end of a scope. A call inside a call (a user's score that asks the library for
/// something) finds it taken and gets another.
class Borrowed {
 public:
  Borrowed();
  Borrowed(const Borrowed&) = delete;
  Borrowed& operator=(const Borrowed&) = delete;
  ~Borrowed();

  Memory& operator*() const { return *memory_; }
  Memory* operator->() const { return memory_; }

 private:
  Memory* memory_;
};

}  // namespace heed::kernels
