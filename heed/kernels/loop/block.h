// One query block and everything a thread needs to run it: the kernels' scratch, what is known about each row, the
// pieces of tiles to visit, and the scores of a piece. Forward, backward and weights-on-request are loops over these.
#pragma once

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "heed/kernels/bias/bias.h"
#include "heed/kernels/column/column.h"
#include "heed/kernels/loop/kept_scores.h"
#include "heed/kernels/loop/learned.h"
#include "heed/kernels/loop/plan.h"
#include "heed/kernels/loop/rows.h"
#include "heed/kernels/loop/thread_memory.h"
#include "heed/kernels/loop/values.h"
#include "heed/kernels/normalise/normaliser.h"
#include "heed/kernels/problem.h"
#include "heed/kernels/score/score.h"
#include "heed/kernels/weigh/weigh.h"

namespace heed::kernels {

enum class Direction { forward, backward };

/// The parts that a problem selects, made once per call and shared by all threads.
struct Kernels {
  ArenaPtr<ScoreKernel> score;  // null: every score is 0, and neither q nor k is read
  std::pmr::vector<ArenaPtr<BiasKernel>> biases;
  ArenaPtr<NormaliserKernel> normaliser;
  ArenaPtr<WeighKernel> weigh;  // null: nothing between weights and values
  ArenaPtr<ValueKernel> values;
  ArenaPtr<ColumnKernel> column;  // null: columns have no state

  /// f(part, its offset in a task's sums) for every part that may have learned parameters, in a fixed order.
  template <class F>
  void for_each_learned(F&& f) const {
    size_t at = 0;
    const auto visit = [&](const Learned& part) {
      f(part, at);
      at += part.gradient_floats();
    };
    if (score) visit(*score);
    for (const auto& bias : biases) visit(*bias);
    visit(*normaliser);
  }
  /// All of a task's sums.
  size_t gradient_floats() const {
    size_t floats = 0;
    for_each_learned([&](const Learned& part, size_t) { floats += part.gradient_floats(); });
    return floats;
  }
};
/// `grad`: which gradients are requested; null: a forward.
Kernels make_kernels(const Problem& problem, NormaliserOptions options, const Gradients* grad, CallArena& arena);

/// What is computed: the same for all threads of a call.
struct Call {
  const Problem& problem;
  const Inputs& in;
  const Kernels& kernels;
  const Geometry& geometry;
  Direction direction;
  KeptScores kept = {};
};

/// A tensor that a task reads or writes besides the inputs.
struct Touched {
  ConstView view;
  int64_t width;
  bool query_side;  // rows of the task's queries; otherwise of its keys
};

class Block {
 public:
  /// `memory` is this thread's.
  Block(const Call& call, ThreadMemory& memory);

  /// Reserves the thread's scratch. False: out of memory. Nothing done with the block afterwards allocates: a task that
  /// failed halfway would leave others waiting for their turn.
  bool reserve();
  /// Bytes that reserve() takes.
  size_t scratch_bytes() const;

  /// What a task sees: its ranges and key blocks ...
  void plan(const BlockTask& task);
  /// ... and with its queries prepared and what is known about its rows in advance.
  void load(const BlockTask& task);

  /// Puts the rows of an upcoming task into this thread's PrefetchQueue: those of the inputs and of `others`.
  void prefetch(const BlockTask& task, std::span<const Touched> others) const;

  /// The same for the values of the current visit and the keys of the next, if a task has several key blocks; at the
  /// last visit for `out` (may be null) and the queries of the likely next task.
  void prefetch_visit(size_t visit, const ConstView& out) const;

  /// Calls f(piece, cover) for each part of the key block that has visible pairs. Pieces have no buffer yet:
  /// Tile::in().
  template <class F>
  void for_pieces(int32_t key_block, F&& f);

  /// Prepares the key block's keys, or values, unless they are already.
  void load_keys(int32_t key_block);
  void load_values(int32_t key_block);

  /// score, softcap (a copy to `capped` if not null), biases, hidden pairs: into the tile's own buffer.
  void scores(const Tile& tile, Cover cover, float* capped);

  const Problem& problem;
  const Inputs& in;
  const Kernels& kernels;
  const Geometry geometry;
  const Direction direction;
  const KeptScores kept;

  const BlockTask* likely_next = nullptr;

  // Of the current task
  BlockTask task{};
  Sequence sequence;
  int64_t kv_head = 0;
  KeyRange* ranges;                      // [width]
  std::pmr::vector<int32_t> key_blocks;  // to visit, in order
  std::pmr::vector<Tile> strip_pieces;   // normalisers of whole rows, forward: the pieces of the strip
  RowState rows;
  ScoreOperand queries, keys;
  Rows value_rows;  // of the current key block
  float* value_scratch = nullptr;

  // Buffers for the code that runs the block: [geometry.keys, geometry.stride] each
  float* tile_a = nullptr;
  float* tile_b = nullptr;  // from here on backward only
  float* tile_c = nullptr;
  float* tile_d = nullptr;
  float* column_scratch = nullptr;  // where columns have a state
  float* capped = nullptr;          // softcap's backward
  float* out = nullptr;             // forward: [width, padded Dv]
  float* d_out = nullptr;           // backward: d_out packed
  Rows d_out_rows;                  // ... and in place
  float* d_value_scratch = nullptr;
  float* d_queries = nullptr;
  float* parameter_sums = nullptr;  // gradient_floats() of all parts
  float* penalties = nullptr;       // a mask as floats
  float* strip = nullptr;           // normalisers of whole rows: every score of the block
  size_t parameter_floats = 0;      // of parameter_sums

 private:
  size_t layout(Scratch* scratch);
  Tile piece(int32_t key_block, int lane, int queries, int64_t first_key, int64_t last_key) const;

  ThreadMemory& memory_;
  int32_t loaded_keys_ = -1;
  int32_t loaded_values_ = -1;
  int64_t strip_rows_ = 0;
  size_t pieces_ = 0;
};

template <class F>
void Block::for_pieces(int32_t key_block, F&& f) {
  const int64_t first = static_cast<int64_t>(key_block) * geometry.keys;
  const int64_t last = std::min<int64_t>(first + geometry.keys, sequence.keys);
  // The keys of this block that lanes [lane, lane + count) see; whole: all of the lanes see all of those.
  const auto part = [&](int lane, int count, bool& whole) {
    int64_t low = last, high = first;
    for (int c = lane; c < lane + count; ++c) {
      const KeyRange& r = ranges[c];
      if (r.prefix > first && r.prefix_low < last) {
        low = std::min<int64_t>(low, std::max<int64_t>(r.prefix_low, first));
        high = std::max<int64_t>(high, std::min<int64_t>(r.prefix, last));
      }
      if (r.low >= last || r.high <= first || r.low >= r.high) continue;
      low = std::min<int64_t>(low, std::max<int64_t>(r.low, first));
      high = std::max<int64_t>(high, std::min<int64_t>(r.high, last));
    }
    whole = true;
    for (int c = lane; c < lane + count && whole; ++c) whole = ranges[c].low <= low && ranges[c].high >= high;
    return std::pair<int64_t, int64_t>(low, high);
  };
  const auto visit = [&](int lane, int count, std::pair<int64_t, int64_t> range) {
    if (range.first >= range.second) return;
    Tile t = piece(key_block, lane, count, range.first, range.second);
    const Cover seen = cover(problem, t, ranges + lane);
    t.may_hide = seen != Cover::all || !kernels.biases.empty();
    if (seen != Cover::none) f(t, seen);
  };
  bool whole = false;
  const auto range = part(0, task.count, whole);
  // A column's state runs along all queries of the block at once.
  if (whole || task.count <= geometry.panel || kernels.column) return visit(0, task.count, range);
  for (int lane = 0; lane < task.count; lane += geometry.panel) {
    const int count = std::min(geometry.panel, task.count - lane);
    visit(lane, count, part(lane, count, whole));
  }
}

/// Number of threads of a call.
int thread_count(const Call& call, size_t tasks);

}  // namespace heed::kernels
