// Given alignments: which keys each row of a target belongs to. The loop sums up the weight on them
// (Guide::aligned_keys).
#pragma once

#include <cstdint>
#include <span>

namespace heed::attend {

struct CallContext;  // call.h

/// Row r of the targets, all one after another, has the keys keys[rows[r]] to keys[rows[r + 1]] of its memory.
struct GivenAlignments {
  std::span<const int64_t> sequences;  // [B + 1]: the rows of each target
  std::span<const int64_t> rows;       // [target rows + 1]
  std::span<const int32_t> keys;       // numbers of keys in their sequence
};

/// Asks the loop for the weight on the links of the call's queries, which begin at the step of its state.
void add_given_alignments(CallContext& context, const GivenAlignments& links);

}  // namespace heed::attend
