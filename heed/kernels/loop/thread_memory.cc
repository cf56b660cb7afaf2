#include "heed/kernels/loop/thread_memory.h"

#include <utility>

namespace heed::kernels {
namespace {

struct Idle {
  ThreadMemory* first = nullptr;

  ~Idle() {
    while (first) delete std::exchange(first, first->next);
  }
};
thread_local Idle idle;

}  // namespace

ThreadMemoryLease::ThreadMemoryLease() : memory_(idle.first) {
  if (memory_)
    idle.first = memory_->next;
  else
    memory_ = new ThreadMemory;
}

ThreadMemoryLease::~ThreadMemoryLease() {
  memory_->arena.clear();
  memory_->next = idle.first;
  idle.first = memory_;
}

}  // namespace heed::kernels
