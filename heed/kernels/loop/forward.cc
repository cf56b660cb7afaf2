// The loop, forward:
//   for each query block:  for each key block it sees:  score, bias, hide -> normalise -> weigh -> out += P V
#include <limits>

#include "heed/kernels/attention.h"
#include "heed/kernels/exact_math.h"
#include "heed/kernels/loop/decode.h"
#include "heed/kernels/loop/forced_forward.h"
#include "heed/kernels/loop/ordered_sums.h"
#include "heed/kernels/loop/run.h"

namespace heed::kernels {
namespace {

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

/// Forced-forward's running column state: tasks of one head pass it on, key block by key block.
class ColumnState {
 public:
  ColumnState(const Problem& p, std::span<const BlockTask> tasks, const Geometry& g, float* saved, CallArena& arena)
      : p_(p),
        saved_(saved),
        width_(g.width),
        block_keys_(g.keys),
        key_blocks_(most_keys(p) / g.keys + 1),
        turns_(p.forced_forward.on ? static_cast<size_t>(p.shape.batch * p.shape.heads * key_blocks_) : 0, arena),
        ranks_(&arena) {
    if (!p.forced_forward.on) return;
    state_ = p.forced_forward.column_lse;
    if (!state_) {
      const size_t columns = static_cast<size_t>(column_count(p));
      state_ = arena.array<float>(columns);
      std::fill_n(state_, columns, kMinusInfinity);
    }
    first_rank_ = arena.array<size_t>(tasks.size());
    for_each_visit(p, g, tasks, arena, [&, last = tasks.size()](size_t task, int32_t block) mutable {
      if (task != last) first_rank_[task] = ranks_.size();
      last = task;
      ranks_.push_back(turns_.enlist(slot(tasks[task], block)));
    });
    turns_.start();
  }

  bool on() const { return p_.forced_forward.on; }

  void enter(const Block& block, size_t task, size_t visit) {
    const int32_t key_block = block.key_blocks[visit];
    turns_.wait(slot(block.task, key_block), ranks_[first_rank_[task] + visit]);
    if (!saved_) return;
    const int64_t first = static_cast<int64_t>(key_block) * block_keys_;
    const int64_t count = std::min<int64_t>(block_keys_, block.sequence.keys - first);
    const int64_t query_block = block.task.first_query / width_;
    std::copy_n(column(block, first), count,
                saved_ + forced_saved_index(p_, block.task.batch, block.task.head, query_block, width_) + first);
  }
  void leave(const Block& block, size_t task, size_t visit) {
    turns_.pass(slot(block.task, block.key_blocks[visit]), ranks_[first_rank_[task] + visit]);
  }
  float* column(const Block& block, int64_t key) {
    return state_ + column_index(p_, block.sequence, block.task.batch, block.task.head) + key;
  }

 private:
  size_t slot(const BlockTask& t, int32_t key_block) const {
    return static_cast<size_t>((t.batch * p_.shape.heads + t.head) * key_blocks_ + key_block);
  }

  const Problem& p_;
  float* saved_;
  int width_, block_keys_;
  int64_t key_blocks_;
  float* state_ = nullptr;
  OrderedSums turns_;
  std::pmr::vector<int32_t> ranks_;
  size_t* first_rank_ = nullptr;  // of each task, into the ranks
};

/// What was found of each row, to where the caller wants it. The block's rows are neighbours there.
void store_rows(const Block& block, const Outputs& out, bool whole_rows) {
  const RowState& rows = block.rows;
  const int count = block.task.count;
  const int64_t first = row_index(block.problem, block.task.batch, block.task.head, block.task.first_query);
  if (out.saved)
    for (int c = 0; c < count; ++c) {
      out.saved[2 * (first + c)] = rows.shift[c];
      out.saved[2 * (first + c) + 1] = rows.inverse[c];
    }
  if (out.lse)  // log 0 = -inf for an empty row
    for (int c = 0; c < count; ++c) out.lse[first + c] = rows.shift[c] + static_cast<float>(exact::log(rows.norm[c]));
  if (out.entropy)
    for (int c = 0; c < count; ++c)
      out.entropy[first + c] =
          rows.norm[c] > 0.0f ? static_cast<float>(exact::log(rows.norm[c])) - rows.surprise[c] / rows.norm[c] : 0.0f;
  if (out.guide_cost)
    for (int c = 0; c < count; ++c)
      out.guide_cost[first + c] = whole_rows ? rows.cost[c] : rows.cost[c] * rows.inverse[c];
  if (out.choice) std::copy_n(rows.choice, count, out.choice + first);
}

/// The log-probability of each row's choice, while the strip still holds scores.
void store_log_prob(const Block& block, float* log_prob) {
  const RowState& rows = block.rows;
  float* at = log_prob + row_index(block.problem, block.task.batch, block.task.head, block.task.first_query);
  std::fill_n(at, block.task.count, 0.0f);
  for (const Tile& t : block.strip_pieces)
    for (int c = 0; c < t.queries; ++c) {
      const int64_t r = rows.choice[t.lane + c] - t.key;
      if (r < 0 || r >= t.keys) continue;
      const float score = t.at[r * static_cast<int64_t>(t.stride) + c];
      at[t.lane + c] = score - rows.shift[t.lane + c] - static_cast<float>(exact::log(rows.norm[t.lane + c]));
    }
}

void run_block(Block& block, size_t task, const Outputs& out, ColumnState& columns) {
  const Kernels& k = block.kernels;
  RowState& rows = block.rows;
  const int count = block.task.count;
  const bool whole_rows = k.normaliser->whole_rows();
  auto& pieces = block.strip_pieces;
  pieces.clear();
  std::fill_n(rows.cost, block.geometry.width, 0.0f);
  k.normaliser->begin(rows, block.task.head, count);

  const auto clear_out = [&] {
    std::fill_n(block.out, static_cast<size_t>(block.geometry.width) * k.values->padded(), 0.0f);
  };
  bool begun = false;   // block.out holds a sum
  bool stored = false;  // the outputs are where they belong
  const MutableRows target = query_rows(block.problem, out.out, block.sequence, block.task.batch, block.task.head)
                                 .from(block.task.first_query);
  const auto to_values = [&](const Tile& t, int32_t key_block) {
    const bool first = !begun && t.queries == count;
    if (!begun && !first) clear_out();
    begun = true;
    if (k.weigh) k.weigh->forward(t, block.sequence, rows, false);
    block.load_values(key_block);
    k.values->forward(t, block.value_rows, block.value_scratch, block.out, first);
  };

  for (size_t visit = 0; visit < block.key_blocks.size(); ++visit) {
    const int32_t key_block = block.key_blocks[visit];
    block.prefetch_visit(visit, read_only(out.out));
    if (columns.on()) columns.enter(block, task, visit);
    block.for_pieces(key_block, [&](const Tile& piece, Cover seen) {
      const size_t strip_row = visit * static_cast<size_t>(block.geometry.keys);
      const Tile t = piece.in(whole_rows ? block.strip + strip_row * piece.stride : block.tile_a);
      block.load_keys(key_block);
      block.scores(t, seen, nullptr);
      if (columns.on()) forced_forward_shift(t, columns.column(block, t.key), nullptr, block.penalties);
      if (whole_rows) {
        pieces.push_back(t);
        return;
      }
      if (k.normaliser->absorb(t, rows)) {
        k.values->rescale(block.out, rows.rescale, t.lane, t.queries);
        for (int c = t.lane; c < t.lane + t.queries; ++c) rows.cost[c] *= rows.rescale[c];
      }
      if (block.key_blocks.size() == 1 && t.queries == count && !k.weigh) {
        // All of the rows' keys in one tile: the norm is known before the values.
        k.normaliser->finish(rows, count);
        block.load_values(key_block);
        stored = k.values->forward_to_rows(t, rows.inverse, block.value_rows, block.value_scratch, target);
        if (stored) return;
      }
      to_values(t, key_block);
    });
    if (columns.on()) columns.leave(block, task, visit);
  }

  if (whole_rows) k.normaliser->solve(pieces.data(), static_cast<int>(pieces.size()), rows, count);
  if (!stored) k.normaliser->finish(rows, count);
  if (out.log_prob) store_log_prob(block, out.log_prob);
  for (const Tile& t : pieces) {
    k.normaliser->weights(t, t, rows);
    to_values(t, static_cast<int32_t>(t.key / block.geometry.keys));
  }
  store_rows(block, out, whole_rows);
  if (stored) return;
  if (!begun) clear_out();
  k.values->store(block.out, whole_rows ? nullptr : rows.inverse, count, target);
}

}  // namespace

Status forward(const Problem& p, const Inputs& in, const Outputs& out) {
  Status status = check(p, in, out);
  if (!status) return status;
  const Geometry g = geometry(p);
  const ThreadMemoryLease memory;
  CallArena& arena = memory->arena;
  const char* no_memory = "scratch: no memory for this problem's tiles; fewer threads or shorter rows need less";
  const Decoding decoding(p, in);
  const bool decodes = decoding.takes_any();
  if (decodes && !decode(p, in, out, decoding, *memory)) status.refuse(no_memory);
  const std::pmr::vector<BlockTask> tasks = plan_tasks(p, g, p.forced_forward.on, arena, decodes ? &decoding : nullptr);
  if (tasks.empty() || !status) return status;
  const Kernels kernels = make_kernels(p, Direction::forward, {.entropy = out.entropy != nullptr}, nullptr, arena);
  ColumnState columns(p, tasks, g, out.forced_saved, arena);
  const Touched touched[] = {{read_only(out.out), p.shape.value_dim, true}};
  const Call call{p, in, kernels, g, Direction::forward};
  const Ran ran = run_tasks({call, tasks, touched, !columns.on(), *memory},
                            [&](Block& block, size_t t) { run_block(block, t, out, columns); });
  if (ran == Ran::no_memory) status.refuse(no_memory);
  if (ran == Ran::interrupted) status.refuse("interrupted: the caller wanted no more of this");
  return status;
}

}  // namespace heed::kernels
