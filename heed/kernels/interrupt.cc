#include "heed/kernels/interrupt.h"

namespace heed::kernels {
namespace {

thread_local Interruptible* own = nullptr;          // may ask
thread_local const Interruptible* other = nullptr;  // may only be read

}  // namespace

Interruptible::Interruptible(bool (*asked)()) : asked_(asked), before_(own), last_(std::chrono::steady_clock::now()) {
  own = this;
}

Interruptible::~Interruptible() { own = before_; }

const Interruptible* Interruptible::of_this_thread() { return own ? own : other; }

bool Interruptible::ask() {
  if (stop_.load(std::memory_order_relaxed)) return true;
  const auto now = std::chrono::steady_clock::now();
  if (now - last_ < std::chrono::milliseconds(50)) return false;
  last_ = now;
  if (asked_()) stop_ = true;
  return stop_;
}

InterruptedLike::InterruptedLike(const Interruptible* like) : before_(other) { other = like; }
InterruptedLike::~InterruptedLike() { other = before_; }

bool interrupted() {
  if (own) return own->ask();
  return other && other->stop_.load(std::memory_order_relaxed);
}

}  // namespace heed::kernels
