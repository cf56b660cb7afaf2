// Work that its caller may want to end before it is done, as Python does at Ctrl-C.
#pragma once

#include <atomic>
#include <chrono>

namespace heed::kernels {

/// While one lives, long work on this thread asks it now and then whether to go on.
/// Threads: belongs to the thread that made it, on which `asked` is called.
class Interruptible {
 public:
  /// `asked`: true ends the work soon. Called on this thread alone, at most every 50 ms, and not again after a true.
  explicit Interruptible(bool (*asked)());
  ~Interruptible();
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;

  /// That of the calling thread, or null. For helpers: see InterruptedLike.
  static const Interruptible* of_this_thread();

 private:
  friend bool interrupted();
  bool ask();

  bool (*asked_)();
  Interruptible* before_;
  std::atomic<bool> stop_{false};
  std::chrono::steady_clock::time_point last_;
};

/// While one lives on a thread that works for another, interrupted() says here what it said there.
/// Threads: belongs to the thread that made it.
class InterruptedLike {
 public:
  explicit InterruptedLike(const Interruptible* other);
  ~InterruptedLike();
  InterruptedLike(const InterruptedLike&) = delete;
  InterruptedLike& operator=(const InterruptedLike&) = delete;

 private:
  const Interruptible* before_;
};

/// True: what is being computed on this thread is no longer wanted. Costs a look at a pointer where nobody may
/// interrupt.
bool interrupted();

}  // namespace heed::kernels
