// The smallest use: causal scaled dot-product attention, 8 heads, forward.
#include <heed/kernels/attention.h>

#include <cmath>
#include <cstdio>
#include <vector>

int main() {
  using namespace heed::kernels;
  const int64_t heads = 8, tokens = 100, dim = 64, size = heads * tokens * dim;
  const std::vector<float> q(size, 0.1f), k(size, 0.2f), v(size, 0.3f);
  std::vector<float> out(size);

  Problem problem;
  problem.shape = {.heads = heads, .queries = tokens, .keys = tokens, .dim = dim, .value_dim = dim};
  problem.score.scale = 1.0f / std::sqrt(static_cast<float>(dim));
  problem.region.causal = true;

  const Status status = forward(problem,
                                {.q = contiguous(q.data(), heads, tokens, dim),
                                 .k = contiguous(k.data(), heads, tokens, dim),
                                 .v = contiguous(v.data(), heads, tokens, dim)},
                                {.out = contiguous(out.data(), heads, tokens, dim)});
  if (!status) {
    std::puts(status.message().c_str());
    return 1;
  }
  std::printf("out[0] = %.3f on %s\n", static_cast<double>(out[0]), isa().c_str());
  return std::fabs(out[0] - 0.3f) < 1e-6f ? 0 : 1;
}
