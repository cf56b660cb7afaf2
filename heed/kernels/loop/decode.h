// A decoding step: a query or a few of each sequence on a long memory, where reading the keys and values is the work.
// Such sequences take a separate path. The query heads of a key/value head are one task, so that the memory is read
// once for all of them, and a long memory is cut into parts that several threads read.
// How a sequence is cut depends only on its own shape. Neither the other sequences of the batch nor the number of
// threads change a bit of it.
#pragma once

#include <cstdint>
#include <memory_resource>
#include <vector>

#include "heed/kernels/loop/call_arena.h"
#include "heed/kernels/loop/region.h"
#include "heed/kernels/loop/thread_memory.h"
#include "heed/kernels/problem.h"

namespace heed::kernels {

/// Which sequences take this path, and on which keys.
class Decoding {
 public:
  Decoding(const Problem& problem, const Inputs& in);

  /// `range`: the keys that every query of the sequence sees.
  bool takes(const Sequence& sequence, int64_t b, KeyRange& range) const;
  bool takes_any() const;

  /// Of every task: queries times heads of a group.
  int rows(const Sequence& sequence) const { return static_cast<int>(sequence.queries * group_size(p_)); }

 private:
  const Problem& p_;
  bool possible_;
};

/// Keys of each part that a range of `keys` keys is read in.
int64_t decode_part_keys(int64_t keys, int64_t kv_heads);

struct DecodeTask {
  int32_t batch;
  int32_t kv_head;
  int64_t first_key;
  int64_t keys;
  int32_t part, parts;  // of the parts of its range
  int32_t whole;        // the number of its range
};

std::pmr::vector<DecodeTask> plan_decoding(const Problem& problem, const Decoding& decoding, CallArena& arena);

/// Bytes that a thread needs besides.
int64_t decode_scratch_bytes(const Problem& problem, const Decoding& decoding);

/// Runs all of plan_decoding(). False: out of memory.
bool decode(const Problem& problem, const Inputs& in, const Outputs& out, const Decoding& decoding,
            ThreadMemory& memory);

}  // namespace heed::kernels
