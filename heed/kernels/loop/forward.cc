// The loop, forward:
//   for each query block:  for each key block it sees:  score, bias, hide -> normalise -> weigh -> out += P V
#include <algorithm>
#include <span>
#include <vector>

#include "heed/kernels/attention.h"
#include "heed/kernels/column/column.h"
#include "heed/kernels/exact_math.h"
#include "heed/kernels/loop/decode.h"
#include "heed/kernels/loop/ordered_sums.h"
#include "heed/kernels/loop/run.h"
#include "heed/kernels/no_memory.h"

namespace heed::kernels {
namespace {

/// The order in which tasks update the state of columns: those of one head one after another, key block by key block.
class ColumnTurns {
 public:
  ColumnTurns(const Problem& p, const Geometry& g, std::span<const BlockTask> tasks, CallArena& arena)
      : on_(has_column_state(p)),
        heads_(p.shape.heads),
        key_blocks_(most_keys(p) / g.keys + 1),
        turns_(on_ ? static_cast<size_t>(p.shape.batch * heads_ * key_blocks_) : 0, arena),
        ranks_(&arena) {
    if (!on_) return;
    first_rank_ = arena.array<size_t>(tasks.size());
    for_each_visit(p, g, tasks, arena, [&, last = tasks.size()](size_t task, int32_t block) mutable {
      if (task != last) first_rank_[task] = ranks_.size();
      last = task;
      ranks_.push_back(turns_.enlist(slot(tasks[task], block)));
    });
    turns_.start();
  }

  bool on() const { return on_; }

  void wait(const Block& block, size_t task, size_t visit) const {
    if (on_) turns_.wait(slot(block.task, block.key_blocks[visit]), ranks_[first_rank_[task] + visit]);
  }
  void pass(const Block& block, size_t task, size_t visit) {
    if (on_) turns_.pass(slot(block.task, block.key_blocks[visit]), ranks_[first_rank_[task] + visit]);
  }

 private:
  size_t slot(const BlockTask& t, int32_t key_block) const {
    return static_cast<size_t>((t.batch * heads_ + t.head) * key_blocks_ + key_block);
  }

  bool on_;
  int64_t heads_, key_blocks_;
  OrderedSums turns_;
  std::pmr::vector<int32_t> ranks_;
  size_t* first_rank_ = nullptr;  // of each task, into the ranks
};

/// Stores the results of each row where the caller wants them. The block's rows are neighbours there.
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

/// One query block: its keys go by, then its outputs are stored.
class BlockForward {
 public:
  BlockForward(Block& block, const Outputs& out)
      : block_(block),
        k_(block.kernels),
        rows_(block.rows),
        out_(out),
        target_(query_rows(block.problem, out.out, block.sequence, block.task.batch, block.task.head)
                    .from(block.task.first_query)),
        whole_rows_(k_.normaliser->whole_rows()),
        count_(block.task.count) {}

  void run(size_t task, ColumnTurns& columns) {
    block_.strip_pieces.clear();
    std::fill_n(rows_.cost, block_.geometry.width, 0.0f);
    k_.normaliser->begin(rows_, block_.task.head, count_);
    for (size_t visit = 0; visit < block_.key_blocks.size(); ++visit) {
      block_.prefetch_visit(visit, out_.out);
      columns.wait(block_, task, visit);
      block_.for_pieces(block_.key_blocks[visit],
                        [&](const Tile& piece, Cover seen) { take_piece(visit, piece, seen); });
      columns.pass(block_, task, visit);
    }
    if (whole_rows_) k_.normaliser->solve(block_.strip_pieces.data(), piece_count(), rows_, count_);
    if (!stored_) k_.normaliser->finish(rows_, count_);
    if (out_.log_prob) store_log_prob(block_, out_.log_prob);
    for (const Tile& t : block_.strip_pieces) {
      k_.normaliser->weights(t, t, rows_);
      add_values(t, static_cast<int32_t>(t.key / block_.geometry.keys));
    }
    store_rows(block_, out_, whole_rows_);
    if (!stored_) store();
  }

 private:
  int piece_count() const { return static_cast<int>(block_.strip_pieces.size()); }

  /// Scores of a piece, and also its weights and values unless weights need a whole row.
  void take_piece(size_t visit, const Tile& piece, Cover seen) {
    const int32_t key_block = block_.key_blocks[visit];
    const size_t strip_row = visit * static_cast<size_t>(block_.geometry.keys);
    const Tile t = piece.in(whole_rows_ ? block_.strip + strip_row * piece.stride : block_.tile_a);
    block_.load_keys(key_block);
    block_.scores(t, seen, nullptr);
    if (k_.column) k_.column->forward(t, block_.sequence, block_.column_scratch);
    if (whole_rows_) {
      block_.strip_pieces.push_back(t);
      return;
    }
    if (k_.normaliser->absorb(t, rows_)) {
      k_.values->rescale(block_.out, rows_.rescale, t.lane, t.queries);
      for (int c = t.lane; c < t.lane + t.queries; ++c) rows_.cost[c] *= rows_.rescale[c];
    }
    if (!store_only_piece(t, key_block)) add_values(t, key_block);
  }

  /// All keys of the rows are in one tile: the norm is known before the values, so the outputs are written directly.
  bool store_only_piece(const Tile& t, int32_t key_block) {
    if (block_.key_blocks.size() != 1 || t.queries != count_ || k_.weigh) return false;
    k_.normaliser->finish(rows_, count_);
    block_.load_values(key_block);
    stored_ = k_.values->forward_to_rows(t, rows_.inverse, block_.value_rows, block_.value_scratch, target_);
    return stored_;
  }

  void add_values(const Tile& t, int32_t key_block) {
    const bool first = !begun_ && t.queries == count_;
    if (!begun_ && !first) clear_sums();
    begun_ = true;
    if (k_.weigh) k_.weigh->forward(t, block_.sequence, rows_, false);
    block_.load_values(key_block);
    k_.values->forward(t, block_.value_rows, block_.value_scratch, block_.out, first);
  }

  void clear_sums() { std::fill_n(block_.out, static_cast<size_t>(block_.geometry.width) * k_.values->padded(), 0.0f); }

  void store() {
    if (!begun_) clear_sums();
    k_.values->store(block_.out, whole_rows_ ? nullptr : rows_.inverse, count_, target_);
  }

  Block& block_;
  const Kernels& k_;
  RowState& rows_;
  const Outputs& out_;
  const MutableRows target_;
  const bool whole_rows_;
  const int count_;
  bool begun_ = false;   // block.out holds a sum
  bool stored_ = false;  // the outputs are already written
};

Status run_forward(const Problem& p, const Inputs& in, const Outputs& out) {
  Status status = check(p, in, out);
  if (!status) return status;
  const Geometry g = geometry(p);
  const ThreadMemoryLease memory;
  CallArena& arena = memory->arena;
  const Decoding decoding(p, in);
  const bool decodes = decoding.takes_any();
  if (decodes && !decode(p, in, out, decoding, *memory)) return no_memory();
  const std::pmr::vector<BlockTask> tasks = plan_tasks(p, g, has_column_state(p), arena, decodes ? &decoding : nullptr);
  if (tasks.empty()) return status;
  const Kernels kernels = make_kernels(p, {.entropy = out.entropy != nullptr}, nullptr, arena);
  if (kernels.column) kernels.column->begin_forward(out, arena);
  ColumnTurns columns(p, g, tasks, arena);
  const Touched touched[] = {{out.out, p.shape.value_dim, true}};
  const Call call{p, in, kernels, g, Direction::forward, {p, out.kept_scores, nullptr}};
  return status_of(run_tasks({call, tasks, touched, !columns.on(), *memory},
                             [&](Block& block, size_t t) { BlockForward(block, out).run(t, columns); }));
}

}  // namespace

Status forward(const Problem& p, const Inputs& in, const Outputs& out) {
  return without_throwing([&] { return run_forward(p, in, out); });
}

}  // namespace heed::kernels
