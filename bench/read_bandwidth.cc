#include "read_bandwidth.h"

#include <omp.h>

#include <cstdint>
#include <iterator>

#include "clones.h"

namespace heed::bench {
namespace {

typedef float Vec __attribute__((vector_size(64), aligned(4), may_alias));

float sum_of(const Vec& s) {
  float total = 0.0f;
  for (int lane = 0; lane < 16; ++lane) total += s[lane];
  return total;
}

// Eight accumulators of 64 bytes each: the latency of an addition must not be what is measured. They read `apart`
// floats from each other, and move on by `step` until the first of them is at `end`.
HEED_BENCH_CLONES float sum(const float* data, int64_t apart, int64_t step, int64_t end) {
  Vec s0 = {}, s1 = {}, s2 = {}, s3 = {}, s4 = {}, s5 = {}, s6 = {}, s7 = {};
  for (int64_t i = 0; i < end; i += step) {
    const float* x = data + i;
    s0 += *reinterpret_cast<const Vec*>(x);
    s1 += *reinterpret_cast<const Vec*>(x + apart);
    s2 += *reinterpret_cast<const Vec*>(x + 2 * apart);
    s3 += *reinterpret_cast<const Vec*>(x + 3 * apart);
    s4 += *reinterpret_cast<const Vec*>(x + 4 * apart);
    s5 += *reinterpret_cast<const Vec*>(x + 5 * apart);
    s6 += *reinterpret_cast<const Vec*>(x + 6 * apart);
    s7 += *reinterpret_cast<const Vec*>(x + 7 * apart);
  }
  return sum_of(((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7)));
}

float sum(const float* data, int64_t size, Streams streams) {
  constexpr int64_t kVec = 16, kStep = 8 * kVec;
  const int64_t whole = size / kStep * kStep;
  float total = streams == Streams::one ? sum(data, kVec, kStep, whole) : sum(data, whole / 8, kVec, whole / 8);
  for (int64_t i = whole; i < size; ++i) total += data[i];
  return total;
}

}  // namespace

float read_all(std::span<const float> a, std::span<const float> b, int threads, Streams streams) {
  const int64_t a_size = std::ssize(a), b_size = std::ssize(b);
  float total = 0.0f;
#pragma omp parallel num_threads(threads) reduction(+ : total)
  {
    const int64_t part = omp_get_thread_num(), parts = omp_get_num_threads();
    const int64_t a_from = a_size * part / parts, a_to = a_size * (part + 1) / parts;
    const int64_t b_from = b_size * part / parts, b_to = b_size * (part + 1) / parts;
    total += sum(a.data() + a_from, a_to - a_from, streams) + sum(b.data() + b_from, b_to - b_from, streams);
  }
  return total;
}

}  // namespace heed::bench
