// Tasks on threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <span>

#include "heed/kernels/interrupt.h"
#include "heed/kernels/loop/block.h"
#include "heed/kernels/loop/thread_memory.h"
#include "heed/kernels/no_memory.h"

namespace heed::kernels {

/// What is to be run, and on what.
struct Run {
  const Call& call;
  std::span<const BlockTask> tasks;
  std::span<const Touched> touched;  // besides the inputs
  bool independent;                  // no task waits for another one
  ThreadMemory& memory;              // of the calling thread
};

/// How run_tasks() ended.
enum class Ran { all, no_memory, interrupted };

/// ... as the caller sees it.
inline Status status_of(Ran ran) {
  Status status;
  if (ran == Ran::no_memory) return no_memory();
  if (ran == Ran::interrupted) status.refuse("interrupted by the caller");
  return status;
}

/// Runs body(block, task_number), which must not throw, for every task, handed out in order to free threads. If the
/// caller interrupts, no more are handed out; those already handed out are finished, since others may wait for them.
template <class Body>
Ran run_tasks(const Run& run, Body&& body) {
  const std::span<const BlockTask> tasks = run.tasks;
  const Problem& problem = run.call.problem;
  const Geometry& geometry = run.call.geometry;
  std::atomic<size_t> next{0};
  std::atomic<bool> stopped{false};
  const int threads = thread_count(run.call, tasks.size());
  // Short sequences make many tasks of one tile each: a thread takes several neighbours, and prefetches the next one's
  // rows while it works on this one's. Tasks that add in order are taken one by one, or a thread would wait for
  // another's remaining tasks.
  const bool small = run.independent && most_queries(problem) <= geometry.width && most_keys(problem) <= geometry.keys;
  const size_t chunk = small ? std::clamp<size_t>(tasks.size() / (8 * static_cast<size_t>(threads)), 1, 16) : 1;
  const auto work = [&](ThreadMemory& memory) {
    Block block(run.call, memory);
    if (!block.reserve()) return false;
    for (size_t first = next.fetch_add(chunk); first < tasks.size(); first = next.fetch_add(chunk)) {
      const size_t last = std::min(first + chunk, tasks.size());
      for (size_t t = first; t < last; ++t) {
        const size_t likely_next = t + (t + 1 < last ? 1 : static_cast<size_t>(threads));
        block.likely_next = likely_next < tasks.size() ? &tasks[likely_next] : nullptr;
        block.load(tasks[t]);
        if (small && t + 1 < last) block.prefetch(tasks[t + 1], run.touched);
        body(block, t);
      }
      if (interrupted()) stopped = true, next = tasks.size();
    }
    return true;
  };
  if (!on_threads_with_memory(threads, run.memory, work)) return Ran::no_memory;
  return stopped ? Ran::interrupted : Ran::all;
}

}  // namespace heed::kernels
