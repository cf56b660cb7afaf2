#include "read_bandwidth.h"

#include <omp.h>

#include "clones.h"

namespace heed::bench {
namespace {

// Eight streams with an accumulator of 64 bytes each: the latency of an addition must not be what is measured, and one
// stream alone left a fifth of the bandwidth unused (12.6 against 15.6 GB/s on one core of an Ice Lake server).
HEED_BENCH_CLONES float sum(const float* data, int64_t size) {
  typedef float Vec __attribute__((vector_size(64), aligned(4), may_alias));
  const int64_t stream = size / 8 / 16 * 16;
  Vec s0 = {}, s1 = {}, s2 = {}, s3 = {}, s4 = {}, s5 = {}, s6 = {}, s7 = {};
  for (int64_t i = 0; i < stream; i += 16) {
    const float* x = data + i;
    s0 += *reinterpret_cast<const Vec*>(x);
    s1 += *reinterpret_cast<const Vec*>(x + stream);
    s2 += *reinterpret_cast<const Vec*>(x + 2 * stream);
    s3 += *reinterpret_cast<const Vec*>(x + 3 * stream);
    s4 += *reinterpret_cast<const Vec*>(x + 4 * stream);
    s5 += *reinterpret_cast<const Vec*>(x + 5 * stream);
    s6 += *reinterpret_cast<const Vec*>(x + 6 * stream);
    s7 += *reinterpret_cast<const Vec*>(x + 7 * stream);
  }
  const Vec s = ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7));
  float total = 0.0f;
  for (int lane = 0; lane < 16; ++lane) total += s[lane];
  for (int64_t i = 8 * stream; i < size; ++i) total += data[i];
  return total;
}

}  // namespace

float read_all(const float* a, int64_t a_size, const float* b, int64_t b_size, int threads) {
  float total = 0.0f;
#pragma omp parallel num_threads(threads) reduction(+ : total)
  {
    const int64_t part = omp_get_thread_num(), parts = omp_get_num_threads();
    const int64_t a_from = a_size * part / parts, a_to = a_size * (part + 1) / parts;
    const int64_t b_from = b_size * part / parts, b_to = b_size * (part + 1) / parts;
    total += sum(a + a_from, a_to - a_from) + sum(b + b_from, b_to - b_from);
  }
  return total;
}

}  // namespace heed::bench
