#include "heed/attend/attention.h"

#include <numbers>
#include <string_view>

#include "heed/attend/all.h"
#include "heed/attend/cache.h"
#include "heed/attend/given_alignments.h"
#include "heed/attend/watch.h"
#include "heed/attend/weights.h"
#include "heed/base/error.h"
#include "heed/kernels/exact_math.h"
#include "heed/tensor/op/arithmetic.h"
#include "heed/tensor/op/arrange.h"
#include "heed/tensor/op/rotary.h"

namespace heed::attend {

namespace {

/// One row per (row, head): heads side by side become separate rows. Nothing is copied.
Tensor row_per_head(Tensor x, int64_t heads) { return heads == 1 ? x : reshape(x, x.rows() * heads, x.cols() / heads); }
Tensor heads_side_by_side(Tensor x, int64_t heads) {
  return heads == 1 ? x : reshape(x, x.rows() / heads, x.cols() * heads);
}

/// Slopes 2^(-8 (h + 1) / H).  Press et al. 2022, section 3.
Tensor alibi_slopes(Tape& tape, int64_t heads) {
  Tensor slopes = tape.filled(1, heads, 0.0f);
  for (int64_t h = 0; h < heads; ++h)
    slopes.data()[h] =
        static_cast<float>(exact::power(2.0, -8.0 * static_cast<double>(h + 1) / static_cast<double>(heads)));
  return slopes;
}

/// Of several draws, one tensor.
Tensor mean_of(const std::vector<AttentionResult>& results, Tensor AttentionResult::*what) {
  Tensor sum = results[0].*what;
  if (!sum || results.size() == 1) return sum;
  for (size_t r = 1; r < results.size(); ++r) sum = add(sum, results[r].*what);
  return scale(sum, 1.0f / static_cast<float>(results.size()));
}

}  // namespace

Attention::Attention(const Scope& scope, const Options& options, std::unique_ptr<Score> score)
    : name_(scope.prefix()),
      options_(options),
      parts_(resolve(options)),
      position_(value_of(kPositions, options.position)),
      score_(std::move(score)) {
  Options& o = options_;
  kv_heads_ = o.kv_heads > 0 ? o.kv_heads : o.heads;
  const bool learned = parts_.input == &learned_query_entry;
  if (const int64_t keys = parts_.time->keys_in_query) o.query_width = keys * o.key_width;
  if (o.query_width == 0) o.query_width = o.key_width;
  if (o.width == 0) o.width = o.query_width;
  if (o.output_width == 0) o.output_width = o.query_width;
  const int64_t values = o.value_width > 0 ? o.value_width : o.key_width;
  const int64_t shared_width = o.width / o.heads * kv_heads_;
  if (o.project) {
    // Xavier's range for the three as one matrix [3 width, width], as is common. With that of each alone, attention
    // adds more than its input, and a post-norm Transformer loses the differences between its rows during training
    // (docs/results.md).
    const float gain = std::numbers::sqrt2_v<float> / 2.0f;
    const auto projection = [&](std::string_view name, int64_t in, int64_t out) {
      return Linear(scope / name, in, out, options_.project_bias, gain);
    };
    if (!learned) query_ = projection("query", o.query_width, o.width);
    key_ = projection("key", o.key_width, shared_width);
    value_ = projection("value", values, shared_width);
  }
  value_head_width_ = (o.project ? shared_width : values) / kv_heads_;
  if (o.project_output) output_ = Linear(scope / "output", value_head_width_ * o.heads, o.output_width, o.project_bias);

  // The parts see one head: the widths that enter the score.
  Options head = o;
  head.query_width = (o.project ? o.width : o.query_width) / o.heads;
  head.key_width = (o.project ? shared_width : o.key_width) / kv_heads_;
  if (head.hidden == 0) head.hidden = head.key_width;
  if (!score_) score_ = parts_.score->make_score(scope, head);
  normalise_ = parts_.normalise->make_normalise(scope, head);
  for (const Entry* region : parts_.regions) regions_.push_back(region->make_region(scope, head));
  time_ = parts_.time->make_time(scope, head);
  score_query_width_ = score_->query_width() > 0 ? score_->query_width() : head.query_width;
  if (learned)
    learned_queries_ = &scope.make("queries", {o.queries, o.heads * score_query_width_}, Initialiser::xavier());
  if (position_ == Position::relative)
    relative_ = &(scope / "position").make("table", {o.heads, 2 * o.reach + 1}, Initialiser::constant(0.0f));
}

int64_t Attention::context_width() const {
  return options_.project_output ? options_.output_width : options_.heads * value_head_width_;
}

Traits Attention::traits() const {
  return {.heads = options_.heads,
          .order_matters = position_ != Position::none || parts_.any(&Entry::order_matters),
          .reads_memory = parts_.time->keys_in_query > 0};
}

template <class First>
Tensor Attention::placed(Tensor x, const Offsets& offsets, const First& first, int64_t heads) const {
  if (position_ != Position::rotary) return x;
  int64_t* positions = x.tape().keep<int64_t>(x.rows());
  // Stacked rows are [B, heads, T], all equally long; otherwise the heads are side by side in one row.
  const int64_t repeats = offsets.total() > 0 ? x.rows() / offsets.total() : 1;
  for (int64_t b = 0, r = 0; b < offsets.count; ++b)
    for (int64_t h = 0; h < repeats; ++h)
      for (int64_t i = 0; i < offsets.length(b); ++i) positions[r++] = first(b) + i;
  return rotate(x, positions,
                {.heads = heads, .base = static_cast<double>(options_.rotary_base), .halves = options_.rotary_halves});
}

PreparedMemory Attention::prepare(const Memory& memory) const { return prepare_from(memory, 0); }

PreparedMemory Attention::prepare_from(const Memory& memory, int64_t first) const {
  const Tensor rows = memory.rows.rows;
  const int64_t heads = memory.stacked ? 1 : kv_heads_;
  expect(!memory.stacked || !options_.project, "prepare: projections need heads side by side, not stacked");
  expect(rows.cols() == options_.key_width / (memory.stacked ? kv_heads_ : 1),
         "prepare: the memory has {} columns, key_width is {}", rows.cols(), options_.key_width);
  const Tensor values = memory.values ? memory.values : rows;
  const int64_t wanted = options_.value_width > 0 ? options_.value_width : options_.key_width;
  expect(values.cols() == wanted / (memory.stacked ? kv_heads_ : 1),
         "prepare: the values have {} columns, value_width is {}", values.cols(), wanted);
  expect(values.rows() == rows.rows(), "prepare: {} rows of keys, but {} rows of values", rows.rows(), values.rows());
  expect(!memory.documents || parts_.any(&Entry::reads_documents),
         "prepare: the memory has documents, but region = \"{}\" does not use them; add documents to the region",
         options_.region);
  expect(!memory.sentences, "prepare: the memory has sentences, which only hierarchical attention reads");
  PreparedMemory p;
  p.memory = memory;
  p.offsets = memory.rows.offsets;
  p.batch = p.offsets.count;
  if (score_->reads_pairs())
    p.keys = placed(
        heads_side_by_side(score_->keys(row_per_head(options_.project ? key_(rows) : rows, heads)), heads), p.offsets,
        [&](int64_t) { return first; }, heads);
  p.values = options_.project ? value_(values) : values;
  return p;
}

PreparedMemory Attention::begin(Tape&, int64_t batch, int64_t capacity) const {
  expect(parts_.time->grows_with_memory, "begin: {} attention needs the whole memory", options_.time);
  return begin_cache(batch, capacity);
}

PreparedMemory Attention::extend(const PreparedMemory& so_far, const Memory& rows) const {
  Memory one = rows;
  if (!one.rows.offsets) one.rows.offsets = rows.rows.rows.tape().even_offsets(rows.rows.rows.rows(), 1);
  const PreparedMemory step = prepare_from(one, so_far.filled);
  return extend_cache(so_far, step.keys, step.values);
}

Attended Attention::attend(const Queries& queries, const PreparedMemory& prepared, const State& state,
                           const Request& request) const {
  return Watch::watched(name_, {queries, prepared, state, request}, [&](const Request& wanted) {
    return time_->attend(*this, {queries, prepared, state, wanted});
  });
}

Packed Attention::query_rows(const AttendArguments& asked) const {
  Tape& tape = asked.prepared.values.tape();
  if (learned_queries_) {
    expect(!asked.queries.rows.rows, "attend: the queries are learned; do not pass any");
    const int64_t batch = asked.prepared.batch, count = options_.queries;
    int64_t* from = tape.keep<int64_t>(batch * count);
    for (int64_t r = 0; r < batch * count; ++r) from[r] = r % count;
    return {gather_rows(tape.parameter(*learned_queries_), {from, static_cast<size_t>(batch * count)}),
            tape.even_offsets(batch, count)};
  }
  const Tensor rows = asked.queries.rows.rows;
  if (!rows && !score_->reads_queries()) {
    const int64_t batch = asked.prepared.batch;
    return {tape.filled(batch, options_.heads, 1.0f), tape.even_offsets(batch, 1)};
  }
  expect(static_cast<bool>(rows),
         "attend: queries are missing; only static and learned_query attention work without them");
  expect(rows.cols() == options_.query_width / (asked.queries.stacked ? options_.heads : 1),
         "attend: the queries have {} columns, query_width is {}", rows.cols(), options_.query_width);
  const Offsets offsets = asked.queries.rows.offsets;
  expect(static_cast<bool>(offsets), "attend: the queries need offsets, one more than the number of sequences");
  expect(offsets.count == asked.prepared.batch, "attend: {} sequences of queries, but {} in the memory", offsets.count,
         asked.prepared.batch);
  return {options_.project ? query_(rows) : rows, offsets};
}

AttentionCall Attention::base_call(const AttendArguments& asked, const Packed& q) const {
  const auto& memory = asked.prepared.memory;
  AttentionCall call;
  auto& p = call.problem;
  p.shape.heads = options_.heads;
  p.shape.kv_heads = kv_heads_;
  p.score.softcap = options_.softcap;
  call.stacked = asked.queries.stacked;
  expect(call.stacked == memory.stacked || learned_queries_,
         "attend: queries and memory must both be stacked, or neither");
  call.query_offsets = q.offsets;
  call.key_offsets = asked.prepared.offsets;
  call.key_capacity = asked.prepared.capacity;
  call.key_count = asked.prepared.filled;
  call.k = asked.prepared.keys;
  call.v = asked.prepared.values;
  const Queries& queries = asked.queries;
  p.region.align = queries.bottom_right ? kernels::Align::bottom_right : kernels::Align::offset;
  p.region.query_offset = asked.state.step();
  p.region.window_left = queries.window_left;
  p.region.window_right = queries.window_right;
  p.region.query_lengths = queries.lengths;
  p.region.key_lengths = memory.lengths;
  if (const auto* mask = queries.mask) {
    const int64_t keys = queries.mask_keys, heads = queries.mask_per_head ? options_.heads : 1;
    expect(keys >= (call.key_offsets ? call.key_offsets.longest() : call.key_count),
           "attend: the mask has {} columns, but the memory has {} rows", keys,
           call.key_offsets ? call.key_offsets.longest() : call.key_count);
    p.region.mask = mask;
    p.region.mask_packed = !call.stacked;
    p.region.mask_query = call.stacked ? keys : heads * keys;
    const int64_t per_head = call.stacked && q.offsets.count > 0 ? q.offsets.length(0) * keys : keys;
    if (heads > 1) p.region.mask_head = per_head;
    if (call.stacked) p.region.mask_batch = heads * per_head;
  }
  return call;
}

Attended Attention::run(const AttendArguments& asked, const kernels::CustomRegion* region) const {
  Tape& tape = asked.prepared.values.tape();
  const Packed q = query_rows(asked);
  expect(!asked.queries.documents || parts_.any(&Entry::reads_documents),
         "attend: the queries have documents, but region = \"{}\" does not use them; add documents to the region",
         options_.region);
  AttentionCall call = base_call(asked, q);
  call.problem.region.custom = region;
  const int64_t heads = call.stacked ? 1 : options_.heads;
  const Tensor rows = row_per_head(q.rows, heads);
  CallContext c{call, asked.queries, asked.prepared, asked.state, rows, options_.heads, tape};

  if (score_->reads_pairs())
    call.q = placed(
        heads_side_by_side(score_->queries(rows), heads), q.offsets, [&](int64_t b) { return c.first_position(b); },
        heads);
  score_->configure(c);
  if (asked.queries.bias)
    c.add_bias(asked.queries.bias, asked.queries.bias_per_head ? BiasRows::query_and_head : BiasRows::query);
  if (position_ == Position::alibi) call.alibi_slopes = alibi_slopes(tape, options_.heads);
  if (relative_) call.relative = tape.parameter(*relative_);
  for (const auto& part : regions_) part->configure(c);
  time_->configure(c, asked.request);
  if (asked.request.links) add_given_alignments(c, *asked.request.links);
  call.want_entropy = asked.request.entropy;
  call.want_weights = asked.request.matrix;
  if (tape.training() && options_.dropout > 0.0f) call.problem.dropout = {options_.dropout, tape.next_seed()};

  std::vector<AttentionResult> results;
  const int64_t runs = normalise_->runs(tape);
  for (int64_t r = 0; r < runs; ++r) {
    normalise_->configure(c);  // draws a new seed if it samples
    results.push_back(attention(call));
  }

  Attended a;
  a.context = mean_of(results, &AttentionResult::out);
  (asked.request.links ? a.aligned_weight : a.guide_cost) = mean_of(results, &AttentionResult::guide_cost);
  a.matrix = results[0].weights;
  a.log_prob = results[0].log_prob;
  if (runs > 1 && a.log_prob) {
    std::vector<Tensor> log_probs;
    log_probs.reserve(results.size());
    for (const auto& result : results) log_probs.push_back(result.log_prob);
    a.log_prob = concat_rows(log_probs);
  }
  a.entropy = results[0].entropy;  // of softmax itself: the same for every draw
  a.state = asked.state;
  a.state.set_step(a.state.step() + q.offsets.longest());
  time_->keep(results[0], a.state);
  if (asked.request.weights) a.weights = weights(results, tape);
  if (options_.project_output) a.context = output_(a.context);
  return a;
}

Weights Attention::weights(const std::vector<AttentionResult>& results, Tape& tape) const {
  Weights w;
  for (const auto& result : results) {
    const Weights one = dense_weights(result, tape);
    if (!w.data) {
      w = one;
      continue;
    }
    for (int64_t n = 0; n < w.batch * w.heads * w.queries * w.keys; ++n) w.data[n] += one.data[n];
  }
  const float share = 1.0f / static_cast<float>(results.size());
  for (int64_t n = 0; share < 1.0f && n < w.batch * w.heads * w.queries * w.keys; ++n) w.data[n] *= share;
  return w;
}

}  // namespace heed::attend
