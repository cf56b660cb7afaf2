// Lets a caller stop long work early, as Python does on Ctrl-C.
#pragma once

#include <atomic>
#include <chrono>

namespace heed::kernels {

/// While it exists, long work on this thread regularly asks it whether to continue.
/// Threads: belongs to the thread that made it, on which `asked` is called.
class Interruptible {
 public:
  /// `asked`: returns true to stop the work soon. Called on this thread only, at most every 50 ms, and not again after
  /// true.
  explicit Interruptible(bool (*asked)());
  ~Interruptible();
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;

  /// The one of the calling thread, or null. For helper threads, see InterruptedLike.
  static const Interruptible* of_this_thread();

 private:
  friend bool interrupted();
  bool ask();

  bool (*asked_)();
  Interruptible* before_;
  std::atomic<bool> stop_{false};
  std::chrono::steady_clock::time_point last_;
};

/// While it exists on a thread that works for another one, interrupted() returns the same here as there.
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

/// True if the work on this thread should stop. Costs one pointer check if nothing can interrupt it.
bool interrupted();

}  // namespace heed::kernels
