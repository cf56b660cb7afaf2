#include "heed/kernels/loop/block.h"

#include <algorithm>

#include "heed/kernels/loop/hide.h"
#include "heed/kernels/loop/prefetch_queue.h"
#include "heed/kernels/threads.h"

namespace heed::kernels {

Kernels make_kernels(const Problem& p, NormaliserOptions options, const Gradients* grad, CallArena& arena) {
  return {.score = score_entry(p).make(p, grad, arena),
          .biases = make_biases(p, grad, arena),
          .normaliser = make_normaliser(p, options, grad, arena),
          .weigh = make_weigh(p, arena),
          .values = make_values(p, arena),
          .column = make_column(p, grad != nullptr, arena)};
}

namespace {

/// Less than about 10 microseconds of work. Starting and ending a parallel region takes one or two of them if all
/// threads are awake, 50 or more if they sleep or other programs run.
bool over_in_no_time(const Call& call) {
  constexpr double kFew = 1 << 19;  // multiply-adds
  constexpr int64_t kVector = 16;   // queries take up whole vectors
  constexpr double kWeight = 32;    // exponential and the like, of one pair
  const Problem& p = call.problem;
  if (p.region.custom) return false;
  for (const auto& bias : call.kernels.biases)
    if (bias->is_custom()) return false;
  const double score = call.kernels.score ? call.kernels.score->cost_of_pair() : 0.0;
  const double per_pair =
      static_cast<double>(p.shape.heads) * (score + static_cast<double>(p.shape.value_dim) + kWeight);
  const double passes = call.direction == Direction::backward ? 4 : 1;
  int64_t pairs = 0;
  for (int64_t b = 0; b < p.shape.batch; ++b) {
    const Sequence s = sequence(p, b);
    pairs += (s.queries + kVector - 1) / kVector * kVector * s.keys;
    if (pairs > 0 && static_cast<double>(pairs) * per_pair * passes > kFew) return false;
  }
  return true;
}

}  // namespace

int thread_count(const Call& call, size_t tasks) {
  const int asked = call.problem.threads;
  if (tasks <= 1 || (asked == 0 && over_in_no_time(call))) return 1;
  const int most = asked > 0 ? asked : most_threads();
  return static_cast<int>(std::min<size_t>(tasks, static_cast<size_t>(most)));
}

Block::Block(const Call& call, ThreadMemory& memory)
    : problem(call.problem),
      in(call.in),
      kernels(call.kernels),
      geometry(call.geometry),
      direction(call.direction),
      kept(call.kept),
      ranges(memory.arena.array<KeyRange>(static_cast<size_t>(geometry.width))),
      key_blocks(key_block_list(problem, geometry, memory.arena)),
      strip_pieces(&memory.arena),
      memory_(memory) {
  parameter_floats = kernels.gradient_floats();
  if (kernels.normaliser->whole_rows() && direction == Direction::forward) {
    const int64_t key_blocks_at_most = (most_keys(problem) + geometry.keys - 1) / geometry.keys;
    strip_rows_ = key_blocks_at_most * geometry.keys;
    const int64_t panels = (geometry.width + geometry.panel - 1) / geometry.panel;
    strip_pieces.reserve(static_cast<size_t>(key_blocks_at_most * panels));
  }
}

size_t Block::layout(Scratch* scratch) {
  size_t floats = 0;
  pieces_ = 0;
  const auto take = [&](size_t count) -> float* {
    floats += count;
    pieces_ += 1;
    return scratch ? scratch->take(count) : nullptr;
  };
  const size_t width = geometry.stride, tile = static_cast<size_t>(geometry.keys) * width;
  for (float** array :
       {&rows.shift, &rows.inverse, &rows.centre, &rows.norm, &rows.rescale, &rows.surprise, &rows.cost, &rows.delta,
        &rows.slope_sum, &rows.slope_d, &rows.entropy, &rows.d_entropy, &rows.d_log_prob, &rows.d_cost, &rows.d_centre})
    *array = take(width);
  rows.choice = reinterpret_cast<int32_t*>(take(width));
  for (uint32_t** array : {&rows.dropout0, &rows.dropout1, &rows.gumbel0, &rows.gumbel1})
    *array = reinterpret_cast<uint32_t*>(take(width));
  queries.scratch = take(kernels.score ? kernels.score->query_floats(width) : 0);
  keys.scratch = take(kernels.score ? kernels.score->key_floats(geometry.keys) : 0);
  value_scratch = take(kernels.values->value_floats(geometry.keys));
  const bool backward = direction == Direction::backward;
  tile_a = take(tile);
  // A transposed tile has its keys padded to whole vectors.
  penalties = take(hides_single_pairs(problem.region) ? width * (geometry.keys + 64) : 0);
  capped = take(backward && problem.score.softcap > 0.0f ? tile : 0);
  tile_b = take(backward ? tile : 0);
  tile_c = take(backward ? tile : 0);
  tile_d = take(backward ? tile : 0);
  column_scratch = take(kernels.column ? kernels.column->scratch_floats() : 0);
  out = take(backward ? 0 : width * kernels.values->padded());
  d_out = take(backward ? kernels.values->query_floats(width) : 0);
  d_value_scratch = take(backward ? kernels.values->value_floats(geometry.keys) : 0);
  d_queries = take(backward && kernels.score ? kernels.score->query_gradient_floats(width) : 0);
  parameter_sums = take(backward ? parameter_floats : 0);
  strip = take(static_cast<size_t>(strip_rows_) * width);
  return floats;
}

size_t Block::scratch_bytes() const {
  Block copy({problem, in, kernels, geometry, direction}, memory_);
  return copy.layout(nullptr) * sizeof(float);
}

bool Block::reserve() {
  const size_t floats = layout(nullptr);
  if (!memory_.scratch.reserve(floats, pieces_)) return false;
  layout(&memory_.scratch);
  return true;
}

void Block::plan(const BlockTask& t) {
  task = t;
  sequence = heed::kernels::sequence(problem, t.batch);
  kv_head = t.head / group_size(problem);
  loaded_keys_ = loaded_values_ = -1;
  visible_keys(problem, sequence, t, ranges);
  visited_key_blocks(ranges, t.count, geometry.keys, key_blocks);
}

void Block::load(const BlockTask& t) {
  plan(t);
  if (kernels.score) {
    queries.rows = query_rows(problem, in.q, sequence, t.batch, t.head).from(t.first_query);
    queries.count = t.count;
    queries.head = t.head;
    queries.stride = geometry.stride;
    if (!key_blocks.empty()) kernels.score->load_queries(queries);
  }
  if (kernels.weigh) kernels.weigh->load_rows(t, rows);
  kernels.normaliser->load_rows(t, rows);
}

void Block::prefetch(const BlockTask& t, std::span<const Touched> others) const {
  const Sequence s = heed::kernels::sequence(problem, t.batch);
  const int64_t g = t.head / group_size(problem);
  PrefetchQueue& ahead = PrefetchQueue::of_this_thread();
  ahead.clear();
  const auto fetch = [&](const ConstView& view, int64_t width, bool query_side) {
    if (!view.data || view.col != 1 || view.row != width) return;
    const Rows rows = query_side ? query_rows(problem, view, s, t.batch, t.head).from(t.first_query)
                                 : key_rows(problem, view, s, t.batch, g);
    ahead.add(rows.data, static_cast<size_t>((query_side ? t.count : s.keys) * width) * sizeof(float));
  };
  if (kernels.score) {
    fetch(in.q, problem.shape.dim, true);
    fetch(in.k, problem.shape.dim, false);
  }
  fetch(in.v, problem.shape.value_dim, false);
  for (const Touched& other : others) fetch(other.view, other.width, other.query_side);
}

void Block::prefetch_visit(size_t visit, const ConstView& out) const {
  if (key_blocks.size() < 2) return;
  PrefetchQueue& ahead = PrefetchQueue::of_this_thread();
  ahead.clear();
  const auto fetch = [&](Rows rows, int64_t count, int64_t width) {
    if (rows && rows.col == 1 && rows.row == width)
      ahead.add(rows.data, static_cast<size_t>(count * width) * sizeof(float));
  };
  const auto fetch_keys = [&](const ConstView& view, int64_t width, int32_t key_block) {
    const int64_t first = static_cast<int64_t>(key_block) * geometry.keys;
    const Rows rows = key_rows(problem, view, sequence, task.batch, kv_head);
    if (rows) fetch(rows.from(first), std::min<int64_t>(geometry.keys, sequence.live_keys - first), width);
  };
  const auto fetch_queries = [&](const ConstView& view, int64_t width, const BlockTask& t) {
    const Rows rows = query_rows(problem, view, heed::kernels::sequence(problem, t.batch), t.batch, t.head);
    if (rows) fetch(rows.from(t.first_query), t.count, width);
  };
  fetch_keys(in.v, problem.shape.value_dim, key_blocks[visit]);
  if (visit + 1 < key_blocks.size()) {
    if (kernels.score) fetch_keys(in.k, problem.shape.dim, key_blocks[visit + 1]);
  } else {
    fetch_queries(out, problem.shape.value_dim, task);
    if (kernels.score && likely_next) fetch_queries(in.q, problem.shape.dim, *likely_next);
  }
}

Tile Block::piece(int32_t key_block, int lane, int count, int64_t first_key, int64_t last_key) const {
  Tile t;
  t.stride = geometry.stride;
  t.keys = static_cast<int>(last_key - first_key);
  t.queries = count;
  t.lane = lane;
  t.row = static_cast<int>(first_key - static_cast<int64_t>(key_block) * geometry.keys);
  t.key = first_key;
  t.query = task.first_query + lane;
  t.packed_query = sequence.first_query + t.query;
  t.batch = task.batch;
  t.head = task.head;
  return t;
}

void Block::load_keys(int32_t key_block) {
  if (!kernels.score || loaded_keys_ == key_block) return;
  const int64_t first = static_cast<int64_t>(key_block) * geometry.keys;
  keys.rows = key_rows(problem, in.k, sequence, task.batch, kv_head).from(first);
  // Keys beyond the sequence's length may hold anything: they are not read.
  keys.count = static_cast<int>(std::min<int64_t>(geometry.keys, sequence.live_keys - first));
  keys.head = task.head;
  kernels.score->load_keys(keys);
  loaded_keys_ = key_block;
}

void Block::load_values(int32_t key_block) {
  if (loaded_values_ == key_block) return;
  const int64_t first = static_cast<int64_t>(key_block) * geometry.keys;
  value_rows = key_rows(problem, in.v, sequence, task.batch, kv_head).from(first);
  kernels.values->load_values(
      value_rows, static_cast<int>(std::min<int64_t>(geometry.keys, sequence.live_keys - first)), value_scratch);
  loaded_values_ = key_block;
}

void Block::scores(const Tile& t, Cover seen, float* keep) {
  if (kernels.score) {
    if (kept.load_instead()) {
      kept.load(problem, sequence, t);
    } else {
      kernels.score->forward(queries, keys, t);
      kept.store(problem, sequence, t);
    }
    if (problem.score.softcap > 0.0f) softcap_forward(problem.score.softcap, t, keep);
  } else {
    for (int r = 0; r < t.keys; ++r) std::fill_n(t.at + r * t.stride, t.queries, 0.0f);
  }
  for (const auto& bias : kernels.biases) bias->add(t, sequence);
  if (seen != Cover::all) hide(problem, t, ranges + t.lane, penalties);
}

}  // namespace heed::kernels
