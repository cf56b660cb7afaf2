#include "heed/kernels/loop/decode.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <span>

#include "heed/kernels/bias/bias.h"
#include "heed/kernels/column/column.h"
#include "heed/kernels/exact_math.h"
#include "heed/kernels/loop/decode_part.h"
#include "heed/kernels/loop/thread_memory.h"
#include "heed/kernels/normalise/normaliser.h"
#include "heed/kernels/score/score.h"
#include "heed/kernels/threads.h"
#include "heed/kernels/weigh/weigh.h"

namespace heed::kernels {
namespace {

// More queries than this fill the lanes of a tile.
constexpr int64_t kFewQueries = 4;

/// Nothing between q, k, v and the output but softmax over a range of keys.
bool is_plain(const Problem& p) {
  const bool own_range_per_query = p.region.mask || p.region.custom || p.region.centre || p.region.not_self;
  return score_entry(p).is_inner_product && p.score.softcap <= 0.0f && is_plain_softmax(p.normalise) &&
         !has_bias(p.bias) && !own_range_per_query && !weighs(p) && !has_column_state(p);
}

int most_rows(const Problem& p, const Decoding& decoding) {
  int most = 0;
  KeyRange range;
  for (int64_t b = 0; b < p.shape.batch; ++b) {
    const Sequence s = sequence(p, b);
    if (decoding.takes(s, b, range)) most = std::max(most, decoding.rows(s));
  }
  return most;
}

/// AMD's CPUs follow one stream at full speed and lose a quarter with eight; Intel's reach two thirds of the bandwidth
/// of eight streams with one (docs/kernels.md).
ReadOrder best_read_order() {
#if defined(__x86_64__)
  static const bool amd = __builtin_cpu_is("amd");
  return amd ? ReadOrder::in_order : ReadOrder::eight_streams;
#else
  return ReadOrder::eight_streams;
#endif
}

/// A range that is read in several parts: the task that finishes last adds them up.
struct Whole {
  DecodeSums* parts;
  std::atomic<int32_t> left;
};

class DecodeRun {
 public:
  DecodeRun(const Problem& p, const Inputs& in, const Outputs& out, const Decoding& decoding, CallArena& arena)
      : p_(p), in_(in), out_(out), tasks_(plan_decoding(p, decoding, arena)), most_rows_(most_rows(p, decoding)) {
    padded_ = decode_padded(p.shape.value_dim);
    const size_t wholes = tasks_.empty() ? 0 : static_cast<size_t>(tasks_.back().whole) + 1;
    wholes_ = arena.array<Whole>(wholes);
    for (const DecodeTask& t : tasks_) {
      if (t.parts == 1 || t.part != 0) continue;
      Whole& whole = wholes_[t.whole];
      whole.parts = arena.array<DecodeSums>(static_cast<size_t>(t.parts));
      whole.left.store(t.parts, std::memory_order_relaxed);
      const size_t rows = static_cast<size_t>(sequence(p, t.batch).queries * group_size(p));
      for (int32_t n = 0; n < t.parts; ++n) whole.parts[n] = sums_at(arena.array<float>(sums_floats(rows)), rows);
    }
  }

  /// Of all tasks.
  int64_t floats_read() const {
    int64_t keys = 0;
    for (const DecodeTask& t : tasks_) keys += t.keys;
    return keys * (p_.shape.dim + p_.shape.value_dim);
  }

  int threads() const {
    // Some 10 microseconds of work, whether keys and values come from the cache or are multiplied with many rows: less
    // is done before a second thread has started.
    constexpr int64_t kFew = 1 << 17;
    if (p_.threads == 0 && floats_read() * std::max(1, most_rows_ / 2) <= kFew) return 1;
    const int most = p_.threads > 0 ? p_.threads : most_threads();
    return static_cast<int>(std::min<size_t>(tasks_.size(), static_cast<size_t>(most)));
  }

  bool run(ThreadMemory& memory) {
    const int threads = this->threads();
    // Short ranges: a thread takes several neighbours, and knows what comes next.
    const size_t chunk = std::clamp<size_t>(tasks_.size() / (8 * static_cast<size_t>(threads)), 1, 16);
    // Data that may be in a cache is not prefetched: prefetching takes longer than reading there (docs/kernels.md). It
    // changes no bit.
    constexpr int64_t kCached = 1 << 21;
    const ReadOrder order = floats_read() > kCached ? best_read_order() : ReadOrder::cached;
    std::atomic<size_t> next{0};
    const auto work = [&](ThreadMemory& own) {
      const size_t rows = static_cast<size_t>(most_rows_);
      const size_t scratch = decode_scratch_floats(most_rows_, p_.shape.dim, p_.shape.value_dim);
      if (!own.scratch.reserve(scratch + sums_floats(rows), 2)) return false;
      DecodePart part;
      part.order = order;
      part.scratch = own.scratch.take(scratch);
      float* sums = own.scratch.take(sums_floats(rows));
      for (size_t first = next.fetch_add(chunk); first < tasks_.size(); first = next.fetch_add(chunk)) {
        const size_t last = std::min(first + chunk, tasks_.size());
        for (size_t t = first; t < last; ++t) {
          const size_t likely_next = t + (t + 1 < last ? 1 : 1 + chunk * static_cast<size_t>(threads - 1));
          run_task(tasks_[t], likely_next < tasks_.size() ? &tasks_[likely_next] : nullptr, part, sums);
        }
      }
      return true;
    };
    return on_threads_with_memory(threads, memory, work);
  }

 private:
  size_t sums_floats(size_t rows) const { return rows * (3 + padded_); }
  DecodeSums sums_at(float* at, size_t rows) const {
    // The outputs first: they are whole vectors.
    float* shift = at + rows * padded_;
    return {.shift = shift, .norm = shift + rows, .surprise = shift + 2 * rows, .out = at};
  }

  Rows keys_of(const DecodeTask& t, const Sequence& s, const ConstView& view) const {
    const Rows rows = key_rows(p_, view, s, t.batch, t.kv_head);
    return rows ? rows.from(t.first_key) : rows;
  }

  void run_task(const DecodeTask& t, const DecodeTask* next, DecodePart& part, float* own_sums) const {
    const Sequence s = sequence(p_, t.batch);
    const int64_t group = group_size(p_);
    part.queries = static_cast<int>(s.queries);
    part.rows = static_cast<int>(s.queries * group);
    part.dim = p_.shape.dim;
    part.value_dim = p_.shape.value_dim;
    part.keys = t.keys;
    part.scale = p_.score.scale;
    part.entropy = out_.entropy != nullptr;
    part.q = in_.q;
    part.q.data = query_rows(p_, in_.q, s, t.batch, t.kv_head * group).data;
    part.k = keys_of(t, s, in_.k);
    part.v = keys_of(t, s, in_.v);
    part.next = {};
    part.next_count = 0;
    if (next) {
      part.next = keys_of(*next, next->batch == t.batch ? s : sequence(p_, next->batch), in_.k);
      part.next_count = next->keys;
    }
    if (t.parts == 1) {
      part.sums = sums_at(own_sums, static_cast<size_t>(part.rows));
      decode_part(part);
      return store(t, s, part.sums);
    }
    Whole& whole = wholes_[t.whole];
    part.sums = whole.parts[t.part];
    decode_part(part);
    if (whole.left.fetch_sub(1, std::memory_order_acq_rel) > 1) return;
    merge_decode_sums(whole.parts, t.parts, part.rows, part.value_dim);
    store(t, s, whole.parts[0]);
  }

  void store(const DecodeTask& t, const Sequence& s, const DecodeSums& sums) const {
    const int64_t group = group_size(p_);
    for (int64_t g = 0, r = 0; g < group; ++g) {
      const int64_t head = t.kv_head * group + g;
      const MutableRows target = query_rows(p_, out_.out, s, t.batch, head);
      const int64_t first = row_index(p_, t.batch, head, 0);
      for (int64_t i = 0; i < s.queries; ++i, ++r) {
        const float norm = sums.norm[r];
        const float inverse = norm > 0.0f || norm != norm ? 1.0f / norm : 0.0f;
        if (target)
          store_decoded(sums.out + r * static_cast<int64_t>(padded_), inverse, p_.shape.value_dim, target.from(i));
        const float shift = std::isinf(sums.shift[r]) && sums.shift[r] < 0.0f ? 0.0f : sums.shift[r];
        if (out_.saved) {
          out_.saved[2 * (first + i)] = shift;
          out_.saved[2 * (first + i) + 1] = inverse;
        }
        if (out_.lse) out_.lse[first + i] = shift + static_cast<float>(exact::log(norm));
        if (out_.entropy)
          out_.entropy[first + i] = norm > 0.0f ? static_cast<float>(exact::log(norm)) - sums.surprise[r] / norm : 0.0f;
      }
    }
  }

  const Problem& p_;
  const Inputs& in_;
  const Outputs& out_;
  const std::pmr::vector<DecodeTask> tasks_;
  const int most_rows_;
  size_t padded_;
  Whole* wholes_;
};

}  // namespace

Decoding::Decoding(const Problem& p, const Inputs& in)
    : p_(p), possible_(is_plain(p) && in.k.col == 1 && in.v.col == 1) {}

bool Decoding::takes(const Sequence& s, int64_t b, KeyRange& range) const {
  if (!possible_ || s.queries < 1 || s.queries > kFewQueries || s.live_queries < s.queries) return false;
  range = visible_keys(p_, s, b, 0, 0);
  if (range.low >= range.high || range.prefix > 0) return false;
  for (int64_t i = 1; i < s.queries; ++i) {
    const KeyRange other = visible_keys(p_, s, b, 0, i);
    if (other.low != range.low || other.high != range.high || other.prefix > 0) return false;
  }
  return true;
}

bool Decoding::takes_any() const {
  KeyRange range;
  for (int64_t b = 0; possible_ && b < p_.shape.batch; ++b)
    if (takes(sequence(p_, b), b, range)) return true;
  return false;
}

int64_t decode_part_keys(int64_t keys, int64_t kv_heads) {
  // About 32 tasks per sequence, but long ones: each block of keys or values that is read without a break gains
  // (docs/kernels.md). If a sequence has few key heads, shorter ones are the price of a second thread.
  constexpr int64_t kTasks = 32, kMost = 4096;
  const int64_t least = kv_heads < 4 ? 512 : 2048;
  const int64_t wanted = std::clamp(keys / kTasks * kv_heads, least, kMost);
  const int64_t parts = (keys + wanted - 1) / wanted;
  return (keys + parts - 1) / parts;
}

std::pmr::vector<DecodeTask> plan_decoding(const Problem& p, const Decoding& decoding, CallArena& arena) {
  std::pmr::vector<DecodeTask> tasks(&arena);
  const int64_t heads = kv_heads(p);
  const auto for_sequences = [&](auto&& f) {
    for (int64_t b = 0; b < p.shape.batch; ++b) {
      KeyRange range;
      if (!decoding.takes(sequence(p, b), b, range)) continue;
      const int64_t keys = range.high - range.low, part = decode_part_keys(keys, heads);
      f(b, range, part, (keys + part - 1) / part);
    }
  };
  int64_t count = 0;
  for_sequences([&](int64_t, KeyRange, int64_t, int64_t parts) { count += heads * parts; });
  tasks.reserve(static_cast<size_t>(count));
  int32_t whole = 0;
  for_sequences([&](int64_t b, KeyRange range, int64_t part, int64_t parts) {
    for (int64_t g = 0; g < heads; ++g, ++whole)
      for (int64_t n = 0; n < parts; ++n) {
        const int64_t first = range.low + n * part;
        tasks.push_back({static_cast<int32_t>(b), static_cast<int32_t>(g), first,
                         std::min<int64_t>(part, range.high - first), static_cast<int32_t>(n),
                         static_cast<int32_t>(parts), whole});
      }
  });
  return tasks;
}

int64_t decode_scratch_bytes(const Problem& p, const Decoding& decoding) {
  const int rows = most_rows(p, decoding);
  const size_t sums = static_cast<size_t>(rows) * (3 + decode_padded(p.shape.value_dim));
  return static_cast<int64_t>((decode_scratch_floats(rows, p.shape.dim, p.shape.value_dim) + sums) * sizeof(float));
}

bool decode(const Problem& p, const Inputs& in, const Outputs& out, const Decoding& decoding, ThreadMemory& memory) {
  return DecodeRun(p, in, out, decoding, memory.arena).run(memory);
}

}  // namespace heed::kernels
