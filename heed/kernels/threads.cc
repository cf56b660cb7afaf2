#include "heed/kernels/threads.h"

#include <omp.h>
#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>

#include "heed/kernels/one_thread.h"
#include "hwy/base.h"
#include "hwy/cache_control.h"

namespace heed::kernels {

namespace {

using Clock = std::chrono::steady_clock;

// How long a thread that has nothing to do stays awake: longer than the plain work between two regions of a training
// step; short enough to leave the core to others soon. A time, not a number of pauses: a pause takes 140 cycles on one
// vendor's CPU and 40 on another's.
constexpr Clock::duration kAwake = std::chrono::microseconds(50);
constexpr int kMostHelpers = 1023;

/// True as soon as `ready` is; false after kAwake.
template <class Ready>
bool soon(const Ready& ready) {
  constexpr int kPausesBetweenLooksAtTheClock = 32;
  const Clock::time_point end = Clock::now() + kAwake;
  do {
    for (int i = 0; i < kPausesBetweenLooksAtTheClock; ++i) {
      if (ready()) return true;
      hwy::Pause();
    }
  } while (Clock::now() < end);
  return ready();
}

/// While it exists, threads that are started block all signals: those are for the program's own threads. Faults in the
/// code itself (SIGSEGV and so on) are not blocked.
class NoSignals {
 public:
  NoSignals() {
    sigset_t all;
    sigfillset(&all);
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT}) sigdelset(&all, fault);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~NoSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  NoSignals(const NoSignals&) = delete;
  NoSignals& operator=(const NoSignals&) = delete;

 private:
  sigset_t before_;
};

/// Threads that wait for a call of on_threads(). Never destroyed: they may still sleep when the program ends.
class Helpers {
 public:
  /// False: busy with another call.
  bool run(int wanted, void (*work)(void*, bool), void* argument) {
    const std::unique_lock lock(taken_, std::try_to_lock);
    if (!lock) return false;
    while (count_ < std::min(wanted, kMostHelpers) && add_one()) {
    }
    work_ = work;
    argument_ = argument;
    door_.store(static_cast<uint32_t>(std::min(wanted, count_)) << kSeatShift, std::memory_order_release);
    call_.fetch_add(1);
    if (asleep_.load() > 0) call_.notify_all();
    work(argument, false);
    // Close the door; those that are inside finish.
    if ((door_.fetch_and(kInside, std::memory_order_acq_rel) & kInside) == 0) return true;
    const auto empty = [&] { return door_.load(std::memory_order_acquire) == 0; };
    if (!soon(empty))
      for (uint32_t inside = door_.load(); inside != 0; inside = door_.load()) door_.wait(inside);
    return true;
  }

 private:
  static constexpr int kSeatShift = 16;
  static constexpr uint32_t kInside = 0xFFFF;

  bool add_one() {
    const NoSignals no_signals;
    try {
      std::thread([this, seen = call_.load()] { live(seen); }).detach();
    } catch (const std::system_error&) {  // no more threads available: use fewer
      return false;
    } catch (const std::bad_alloc&) {
      return false;
    }
    ++count_;
    return true;
  }

  void live(uint32_t seen) {
    omp_set_num_threads(1);  // code called by a helper uses one thread
    for (;;) {
      if (!soon([&] { return call_.load(std::memory_order_relaxed) != seen; })) {
        asleep_.fetch_add(1);
        call_.wait(seen);
        asleep_.fetch_sub(1);
      }
      seen = call_.load(std::memory_order_acquire);
      if (!enter()) continue;
      work_(argument_, true);
      if (door_.fetch_sub(1, std::memory_order_acq_rel) == 1)
        door_.notify_one();  // the last one, and the door is closed
    }
  }

  bool enter() {
    uint32_t door = door_.load(std::memory_order_acquire);
    while (door >> kSeatShift > 0)
      if (door_.compare_exchange_weak(door, door - (1u << kSeatShift) + 1, std::memory_order_acq_rel)) return true;
    return false;
  }

  std::mutex taken_;
  int count_ = 0;                  // number of helpers
  std::atomic<uint32_t> call_{0};  // its number
  std::atomic<uint32_t> door_{0};  // seats left, and how many are inside; no seats: closed
  std::atomic<int> asleep_{0};
  void (*work_)(void*, bool) = nullptr;
  void* argument_ = nullptr;
};

std::atomic<Helpers*> helpers{nullptr};

Helpers& get_helpers() {
  static std::once_flag once;
  // A fork copies only the calling thread: the child starts new ones.
  std::call_once(once, [] { pthread_atfork(nullptr, nullptr, [] { helpers.store(new Helpers); }); });
  Helpers* there = helpers.load(std::memory_order_acquire);
  if (there) return *there;
  auto* made = new Helpers;
  if (helpers.compare_exchange_strong(there, made)) return *made;
  delete made;
  return *there;
}

}  // namespace

int most_threads() { return std::max(omp_get_max_threads(), 1); }

OneThread::OneThread() : before_(omp_get_max_threads()) { omp_set_num_threads(1); }
OneThread::~OneThread() { omp_set_num_threads(before_); }

void internal::on_threads(int threads, void (*work)(void*, bool), void* argument) {
  if (!get_helpers().run(threads - 1, work, argument)) work(argument, false);
}

}  // namespace heed::kernels
