// Tasks on threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <vector>

#include "heed/kernels/loop/block.h"

namespace heed::kernels {

/// What is to be run, and on what.
struct Run {
  const Problem& problem;
  const Inputs& in;
  const Kernels& kernels;
  const Geometry& geometry;
  Direction direction;
  const std::vector<Task>& tasks;
  const std::vector<Touched>& touched;  // besides the inputs
  bool independent;                     // no task waits for another one
};

/// Runs body(block, task_number) for every task, handed out in order to the threads that are free. False: no memory.
template <class Body>
bool run_tasks(const Run& run, Body&& body) {
  const std::vector<Task>& tasks = run.tasks;
  std::atomic<size_t> next{0};
  std::atomic<bool> enough_memory{true};
  const int threads = thread_count(run.problem, tasks.size());
  // Short sequences make many tasks of one tile each: a thread takes several neighbours, and fetches the next one's
  // rows while it works on this one's. Tasks that add in turns are taken one by one, or a thread would wait for
  // another's rest.
  const bool small =
      run.independent && most_queries(run.problem) <= run.geometry.width && most_keys(run.problem) <= run.geometry.keys;
  const size_t chunk = small ? std::clamp<size_t>(tasks.size() / (8 * static_cast<size_t>(threads)), 1, 16) : 1;
#pragma omp parallel num_threads(threads) if (threads > 1)
  {
    Block block(run.problem, run.in, run.kernels, run.geometry, run.direction);
    if (block.reserve())
      for (size_t first = next.fetch_add(chunk); first < tasks.size(); first = next.fetch_add(chunk)) {
        const size_t last = std::min(first + chunk, tasks.size());
        for (size_t t = first; t < last; ++t) {
          const size_t likely_next = t + (t + 1 < last ? 1 : static_cast<size_t>(threads));
          block.likely_next = likely_next < tasks.size() ? &tasks[likely_next] : nullptr;
          block.load(tasks[t]);
          if (small && t + 1 < last) block.prefetch(tasks[t + 1], run.touched);
          body(block, t);
        }
      }
    else
      enough_memory = false;
  }
  return enough_memory;
}

}  // namespace heed::kernels
