#include "heed/attend/given_alignments.h"

#include <algorithm>

#include "heed/attend/call.h"
#include "heed/base/error.h"

namespace heed::attend {

void add_given_alignments(CallContext& c, const GivenAlignments& links) {
  const Offsets& o = c.call.query_offsets;
  expect(!c.call.stacked, "links: heads must be side by side, not stacked");
  expect(std::ssize(links.sequences) == o.count + 1, "links: {} targets with links, but {} sequences of queries",
         links.sequences.size() - 1, o.count);
  expect(!c.call.problem.guide.on(), "links: the attention already has a guide");
  int64_t* offsets = c.tape.keep<int64_t>(o.total() + 1);
  int32_t* keys = c.tape.keep<int32_t>(std::max<int64_t>(std::ssize(links.keys), 1));
  int64_t count = 0;
  offsets[0] = 0;
  for (int64_t b = 0; b < o.count; ++b)
    for (int64_t i = o.at[b]; i < o.at[b + 1]; ++i) {
      const int64_t row = links.sequences[static_cast<size_t>(b)] + c.state.step() + i - o.at[b];
      if (row < links.sequences[static_cast<size_t>(b) + 1])  // an ended target may continue, unused
        for (int64_t n = links.rows[static_cast<size_t>(row)]; n < links.rows[static_cast<size_t>(row) + 1]; ++n)
          keys[count++] = links.keys[static_cast<size_t>(n)];
      offsets[i + 1] = count;
    }
  c.call.problem.guide.aligned_offsets = offsets;
  c.call.problem.guide.aligned_keys = keys;
  c.call.want_guide_cost = true;
}

}  // namespace heed::attend
