// Work for several threads. The one place where heed's threads come from.
//
// OpenMP's regions end when every thread of the team has been there, so that one core which another program uses holds
// up all the others: on a machine with something else to do, small regions became 10 to 100 times slower. Here nobody
// waits for a thread that has not come: whoever is there takes what is left to do.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <type_traits>

namespace heed::kernels {

/// How many threads a call may use: OpenMP's number (OMP_NUM_THREADS, omp_set_num_threads), which belongs to the
/// calling thread.
int most_threads();

namespace inside {
void on_threads(int threads, void (*work)(void*, bool), void* argument);
}  // namespace inside

/// Runs work(helper) on the calling thread (helper is false), and on up to threads - 1 others that come while it runs
/// (helper is true); returns when all that came have left. `work` must take what is left to do from something that all
/// share, be right for any number that comes, and not throw. Where the threads are busy with another call, the calling
/// thread works alone.
template <class Work>
void on_threads(int threads, Work&& work) {
  if (threads <= 1) return work(false);
  inside::on_threads(
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
