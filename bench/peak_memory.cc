#include "peak_memory.h"

#include <omp.h>

#include <cmath>
#include <fstream>
#include <limits>

#include "buffer.h"
#include "heed/kernels/attention.h"
#include "timing.h"

namespace heed::bench {
namespace {

/// A line such as "VmHWM:   12345 kB" of the kernel's account of this process, in bytes; -1 where there is none.
double status_bytes(const std::string& key) {
  std::ifstream file("/proc/self/status");
  std::string word;
  while (file >> word) {
    if (word == key + ":") {
      double kilobytes = 0;
      file >> kilobytes;
      return kilobytes * 1024.0;
    }
    file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return -1;
}

/// Sets the peak back to what is resident now. Where this is not allowed the old peak stays, which is no higher here:
/// nothing was freed before.
void reset_peak() {
  std::ofstream file("/proc/self/clear_refs");
  file << "5";
}

}  // namespace

MemoryResult measure_memory(kernels::ScoreKind score, int64_t length, int64_t dim, int threads) {
  omp_set_num_threads(threads);
  const int64_t size = length * dim;
  Buffer q(size), k(size), v(size), d_out(size), out(size), d_q(size), d_k(size), d_v(size);
  Buffer saved(2 * length), score_v(dim), d_score_v(dim);
  fill_random(q, 1);
  fill_random(k, 2);
  fill_random(v, 3);
  fill_random(d_out, 5);
  fill_random(score_v, 4, 1.0f / std::sqrt(static_cast<float>(dim)));
  for (const Buffer* b : {&out, &d_q, &d_k, &d_v, &saved, &d_score_v}) fill_zero(*b);

  kernels::Problem p;
  p.shape.queries = p.shape.keys = length;
  p.shape.dim = p.shape.value_dim = dim;
  p.score.kind = score;
  p.score.scale = 1.0f / std::sqrt(static_cast<float>(dim));
  if (score == kernels::ScoreKind::tanh_sum) {
    p.score.scale = 1.0f;
    p.score.v = score_v.data();
  }
  p.threads = threads;
  const auto read = [&](const Buffer& b) { return kernels::contiguous<const float>(b.data(), 1, length, dim); };
  const auto write = [&](const Buffer& b) { return kernels::contiguous(b.data(), 1, length, dim); };
  const kernels::Inputs in = {read(q), read(k), read(v)};
  kernels::Outputs outputs;
  outputs.out = write(out);
  outputs.saved = saved.data();
  kernels::BackwardInputs from;
  from.out = read(out);
  from.saved = saved.data();
  from.d_out = read(d_out);
  kernels::Gradients grad;
  grad.d_q = write(d_q);
  grad.d_k = write(d_k);
  grad.d_v = write(d_v);
  if (score == kernels::ScoreKind::tanh_sum) grad.d_score_v = d_score_v.data();

  MemoryResult result;
  for (const Buffer* b : {&q, &k, &v, &d_out, &out, &d_q, &d_k, &d_v, &saved, &score_v, &d_score_v})
    result.tensors_mb += static_cast<double>(b->size()) * 4e-6;
  reset_peak();
  const double before = status_bytes("VmRSS");
  const double start = now_ms();
  kernels::Status status = kernels::forward(p, in, outputs);
  if (status) status = kernels::backward(p, in, from, grad);
  result.ms = now_ms() - start;
  const double peak = status_bytes("VmHWM");
  if (!status) result.error = status.message();
  if (before < 0 || peak < 0) result.error = "this system does not say how much memory a process holds";
  result.peak_mb = (peak - before) * 1e-6;
  return result;
}

}  // namespace heed::bench
