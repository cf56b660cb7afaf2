#include "heed/kernels/loop/memory.h"

#include <utility>

namespace heed::kernels {
namespace {

struct Idle {
  Memory* first = nullptr;

  ~Idle() {
    while (first) delete std::exchange(first, first->next);
  }
};
thread_local Idle idle;

}  // namespace

Borrowed::Borrowed() : memory_(idle.first) {
  if (memory_)
    idle.first = memory_->next;
  else
    memory_ = new Memory;
}

Borrowed::~Borrowed() {
  memory_->arena.clear();
  memory_->next = idle.first;
  idle.first = memory_;
}

}  // namespace heed::kernels
