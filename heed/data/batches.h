// Which examples go together, and in which order.
//
// The order of an epoch is a function of the lengths, the options, the seed and the number of the epoch, and of nothing
// else: a resumed run finds its place from (epoch, batch) alone.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace heed::data {

struct BatchOptions {
  int64_t max_tokens =
      4096;  // of a batch, on each side, </s> of the targets included; a longer example gets its own batch
  int64_t max_examples = 0;  // of a batch; 0: no limit
  int64_t window =
      20'000;           // this many examples, in shuffled order, are sorted by length before they are cut into batches
  bool shuffle = true;  // false: the same order in every epoch, for validation
  uint64_t seed = 0;
  /// Batches in a row that are computed beside each other, such as those of one update. Streams of text are dealt out
  /// to them: none of the batches waits for another.
  int64_t side_by_side = 1;
};

/// The tokens that an example adds to a batch.
struct Lengths {
  std::vector<int64_t> source, target;
};

using Indices = std::vector<int64_t>;  // indices of examples

/// Every example in exactly one batch.
///
/// The examples are shuffled, each window of them is sorted by length (target, then source), and each sorted window is
/// cut into batches, which are therefore of nearly equal length; then the batches are shuffled.
std::vector<Indices> make_batches(const Lengths& lengths, const BatchOptions& options, int64_t epoch);

}  // namespace heed::data
