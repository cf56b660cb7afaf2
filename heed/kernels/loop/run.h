// Tasks on threads.
#pragma once

#include <atomic>

#include "heed/kernels/loop/block.h"

namespace heed::kernels {

/// Runs body(block, task_number) for every task, handed out in order to the threads that are free. False: no memory.
template <class Body>
bool run_tasks(const Problem& problem, const Inputs& in, const Kernels& kernels, const Geometry& geometry, Direction direction,
               size_t tasks, Body&& body) {
  std::atomic<size_t> next{0};
  std::atomic<bool> enough_memory{true};
  const int threads = thread_count(problem, tasks);
#pragma omp parallel num_threads(threads) if (threads > 1)
  {
    Block block(problem, in, kernels, geometry, direction);
    if (block.reserve())
      for (size_t t = next.fetch_add(1); t < tasks; t = next.fetch_add(1)) body(block, t);
    else
      enough_memory = false;
  }
  return enough_memory;
}

}  // namespace heed::kernels
