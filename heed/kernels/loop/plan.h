// How a problem is cut into tasks of one query block each, and its keys into blocks. Nothing here depends on the number
// of threads.
#pragma once

#include <cstdint>
#include <memory_resource>
#include <span>
#include <vector>

#include "heed/kernels/loop/call_arena.h"
#include "heed/kernels/loop/region.h"
#include "heed/kernels/loop/tile.h"
#include "heed/kernels/problem.h"

namespace heed::kernels {

Geometry geometry(const Problem& problem);

class Decoding;  // decode.h

/// Every query block of every head of every sequence. `ascending`: early queries first, as columns with a state need
/// it; otherwise the last first, so that a causal region's longest tasks do not come at the end. Sequences that
/// `decoding` takes have none.
std::pmr::vector<BlockTask> plan_tasks(const Problem& problem, const Geometry& geometry, bool ascending,
                                       CallArena& arena, const Decoding* decoding = nullptr);

/// A list with room for every key block that a task may visit.
std::pmr::vector<int32_t> key_block_list(const Problem& problem, const Geometry& geometry, CallArena& arena);

/// The numbers of the key blocks that some query of the task sees, in order. `ranges`: [count].
void visited_key_blocks(const KeyRange* ranges, int count, int block_keys, std::pmr::vector<int32_t>& blocks);

/// f(task_number, key_block) for every key block that every task visits, in the order in which tasks are handed out.
template <class F>
void for_each_visit(const Problem& problem, const Geometry& geometry, std::span<const BlockTask> tasks,
                    CallArena& arena, F&& f) {
  KeyRange* ranges = arena.array<KeyRange>(static_cast<size_t>(geometry.width));
  std::pmr::vector<int32_t> blocks = key_block_list(problem, geometry, arena);
  for (size_t n = 0; n < tasks.size(); ++n) {
    const BlockTask& t = tasks[n];
    visible_keys(problem, sequence(problem, t.batch), t, ranges);
    visited_key_blocks(ranges, t.count, geometry.keys, blocks);
    for (const int32_t block : blocks) f(n, block);
  }
}

}  // namespace heed::kernels
