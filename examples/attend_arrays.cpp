// Attention on plain arrays, in one call: three words ask four others where to look, by two mechanisms.
#include <heed/attend/attend.h>
#include <heed/base/error.h>

#include <cmath>
#include <cstdio>
#include <vector>

#include "heat_map.h"

int main() try {
  constexpr int64_t kQueries = 3, kKeys = 4, kWidth = 4;
  // [1, 3, 4] and [1, 4, 4]: each query is close to one key.
  const std::vector<float> queries = {0, 3, 0, 0, 0, 0, 0, 3, 3, 0, 0, 0};
  const std::vector<float> keys = {3, 0, 0, 0, 0, 3, 0, 0, 0, 0, 3, 0, 0, 0, 0, 3};
  const std::vector<float> values = {1, 2, 3, 4};  // [1, 4, 1]

  const heed::attend::Array q{queries.data(), 1, kQueries, kWidth}, k{keys.data(), 1, kKeys, kWidth},
      v{values.data(), 1, kKeys, 1};
  bool right = true;
  for (const char* mechanism : {"scaled_dot", "cosine"}) {
    const auto found = heed::attend::attend(mechanism, q, k, v, {.weights = true});
    std::printf("%s: %.2f %.2f %.2f\n", mechanism, static_cast<double>(found.context[0]),
                static_cast<double>(found.context[1]), static_cast<double>(found.context[2]));
    heat_map::draw_large(heat_map::Terminal(), {"", "abc", "wxyz", found.weights});
    right &= found.weights[1] > found.weights[0] && found.weights[kKeys + 3] > found.weights[kKeys];
  }

  // The sharper way: sparsemax gives exact zeros, and nothing is blurred.
  const auto sharp = heed::attend::attend("dot", q, k, v, {.mechanism = {.normalise = "sparsemax"}});
  right &= sharp.context == std::vector<float>{2, 4, 1};

  if (!right) return 1;

  // Arrays that do not fit are refused, and the message says why.
  heed::attend::attend("scaled_dot", q, {keys.data(), 2, 2, kWidth}, v);
  return 1;
} catch (const heed::Error& error) {
  std::puts(error.what());
  return 0;
}
