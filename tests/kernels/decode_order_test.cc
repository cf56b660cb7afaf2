// Memory may be read in any order: the order follows the CPU, and must not change a bit. Calls that fit into a cache,
// as those of the other tests do, are read in one way only; here every way is taken.
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "heed/kernels/loop/decode_part.h"

namespace heed::kernels::test {
namespace {

struct Found {
  std::vector<float> shift, norm, surprise, out;
  bool operator==(const Found& other) const {
    const auto same = [](const std::vector<float>& a, const std::vector<float>& b) {
      return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
    };
    return same(shift, other.shift) && same(norm, other.norm) && same(surprise, other.surprise) && same(out, other.out);
  }
};

std::vector<float> numbers(size_t count, uint32_t seed) {
  std::vector<float> all(count);
  for (float& x : all) {
    seed = seed * 1664525u + 1013904223u;
    x = static_cast<float>(seed >> 8) / 16777216.0f * 4.0f - 2.0f;
  }
  return all;
}

Found decode_in(ReadOrder order, int rows, int64_t keys, int64_t dim) {
  const auto size = [](int64_t a, int64_t b) { return static_cast<size_t>(a * b); };
  const std::vector<float> q = numbers(size(rows, dim), 1), k = numbers(size(keys, dim), 2),
                           v = numbers(size(keys, dim), 3), next = numbers(size(keys, dim), 4);
  const size_t count = static_cast<size_t>(rows), padded = decode_padded(dim);
  Found found{std::vector<float>(count), std::vector<float>(count), std::vector<float>(count),
              std::vector<float>(count * padded)};
  std::vector<float> scratch(decode_scratch_floats(rows, dim, dim));
  DecodePart part;
  part.rows = rows;
  part.queries = 1;
  part.dim = part.value_dim = dim;
  part.keys = part.next_count = keys;
  part.scale = 0.3f;
  part.entropy = true;
  part.q = {.data = q.data(), .batch = 0, .head = dim, .row = dim, .col = 1};
  part.k = {k.data(), dim, 1};
  part.v = {v.data(), dim, 1};
  part.next = {next.data(), dim, 1};
  part.order = order;
  part.scratch = scratch.data();
  part.sums = {found.shift.data(), found.norm.data(), found.surprise.data(), found.out.data()};
  decode_part(part);
  return found;
}

TEST(DecodeOrder, ChangesNoBit) {
  for (const int rows : {1, 2, 3, 8, 11})
    for (const int64_t keys : {1, 15, 16, 18, 63, 64, 250, 976, 2048, 2080, 2081, 4096})
      for (const int64_t dim : {5, 32, 64, 80, 128}) {
        SCOPED_TRACE(testing::Message() << rows << " rows, " << keys << " keys, D " << dim);
        const Found cached = decode_in(ReadOrder::cached, rows, keys, dim);
        EXPECT_TRUE(cached == decode_in(ReadOrder::in_order, rows, keys, dim));
        EXPECT_TRUE(cached == decode_in(ReadOrder::eight_streams, rows, keys, dim));
      }
}

}  // namespace
}  // namespace heed::kernels::test
