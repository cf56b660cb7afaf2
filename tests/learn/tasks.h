// Four tasks that cannot be done without looking at the right place.
#pragma once

#include <cstdint>
#include <vector>

#include "tests/kernels/case.h"

namespace heed::attend::test {

using kernels::test::Random;

enum class ToyTask {
  reverse,  // target i is token N - 1 - i; the query knows only i
  copy,     // target i is token i
  lagged,   // the target of row i is the token two rows back, in self-attention
  marked,   // one token of a sequence is marked: which is it?
};

inline constexpr int64_t kTokens = 10;  // kinds of tokens
inline constexpr int64_t kLength = 8;   // tokens of a sequence
inline constexpr int64_t kLag = 2;
inline constexpr int64_t kSentences = 3;  // hierarchical: a document is this many sequences

/// Sequences of equal length, packed, with what should come out.
struct Batch {
  int64_t sequences = 0;
  std::vector<int32_t> tokens, places, marks;  // [sequences * kLength]
  std::vector<int32_t> documents;              // [sequences * kLength]: two halves
  std::vector<int32_t> targets;                // one per row that comes out; -1: does not count
  bool per_document = false;                   // marked: one mark and one target for kSentences sequences
};

struct Sampling {
  ToyTask task;
  int64_t sequences = 32;
  bool halves = false;        // lagged: two documents in each sequence
  bool per_document = false;  // marked
};

/// Target of row i of the sequence that starts at `first`.
inline int32_t target_of(const Sampling& s, const Batch& batch, int64_t first, int64_t i) {
  if (s.task == ToyTask::reverse) return batch.tokens[first + kLength - 1 - i];
  if (s.task == ToyTask::copy) return batch.tokens[first + i];
  const int64_t from = s.halves && i >= kLength / 2 ? kLength / 2 : 0;
  return i - kLag >= from ? batch.tokens[first + i - kLag] : -1;
}

inline Batch sample(const Sampling& s, Random& random) {
  Batch batch;
  batch.sequences = s.sequences;
  batch.per_document = s.per_document;
  const int64_t rows = s.sequences * kLength;
  for (int64_t row = 0; row < rows; ++row) {
    batch.tokens.push_back(static_cast<int32_t>(random.uniform() * kTokens));
    batch.places.push_back(static_cast<int32_t>(row % kLength));
    batch.documents.push_back(row % kLength >= kLength / 2 ? 1 : 0);
  }
  batch.marks.assign(rows, 0);
  if (s.task != ToyTask::marked) {
    for (int64_t row = 0; row < rows; ++row)
      batch.targets.push_back(target_of(s, batch, row - row % kLength, row % kLength));
    return batch;
  }
  const int64_t group = kLength * (s.per_document ? kSentences : 1);
  for (int64_t first = 0; first < rows; first += group) {
    const int64_t marked = first + static_cast<int64_t>(random.uniform() * static_cast<double>(group));
    batch.marks[marked] = 1;
    batch.targets.push_back(batch.tokens[marked]);
  }
  return batch;
}

}  // namespace heed::attend::test
