// Work for several threads. The only place that starts threads in heed.
//
// OpenMP's regions end when every thread of the team has arrived, so one core that another program uses holds up all
// the others: on a busy machine, small regions became 10 to 100 times slower. Here no thread waits for one that has not
// arrived: those that are there do the remaining work.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <type_traits>

namespace heed::kernels {

/// The number of threads a call may use: OpenMP's (OMP_NUM_THREADS, omp_set_num_threads), a setting of the calling
/// thread.
int most_threads();

namespace internal {
void on_threads(int threads, void (*work)(void*, bool), void* argument);
}  // namespace internal

/// Runs work(helper) on the calling thread (helper is false), and on up to threads - 1 others that arrive while it runs
/// (helper is true); returns when all that arrived have left. `work` must take tasks from a shared counter or queue, be
/// correct for any number of threads, and not throw. If the threads are busy with another call, the calling thread
/// works alone.
template <class Work>
void on_threads(int threads, Work&& work) {
  if (threads <= 1) return work(false);
  internal::on_threads(
      threads, [](void* argument, bool helper) { (*static_cast<std::remove_reference_t<Work>*>(argument))(helper); },
      &work);
}

/// f(i) for every i of [0, count), handed out one by one. f must not throw.
template <class F>
void for_each_task(int64_t count, int threads, const F& f) {
  std::atomic<int64_t> next{0};
  on_threads(static_cast<int>(std::min<int64_t>(count, threads)), [&](bool) {
    for (int64_t i = next.fetch_add(1, std::memory_order_relaxed); i < count;
         i = next.fetch_add(1, std::memory_order_relaxed))
      f(i);
  });
}

}  // namespace heed::kernels
