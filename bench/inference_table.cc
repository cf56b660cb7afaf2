#include "inference_table.h"

#include <fmt/core.h>
#include <omp.h>

#include <algorithm>
#include <cstdint>

#include "buffer.h"
#include "heed/tensor/gemm.h"
#include "heed/tensor/packed_weight.h"
#include "heed/tensor/parallel.h"
#include "timing.h"

namespace heed::bench {
namespace {

struct Shape {
  int64_t in, out;
  const char* what;
};
constexpr Shape kShapes[] = {
    {128, 128, "Transformer of width 128"}, {128, 256, ""}, {128, 384, ""},  {128, 10000, ""}, {256, 128, ""},
    {256, 768, "GRU of width 256"},         {512, 256, ""}, {256, 10000, ""}};
constexpr int64_t kRows[] = {1, 5, 32, 160, 512};

struct Speeds {
  double training, inference;  // GFLOP/s
};

Speeds measure(const Shape& s, int64_t rows) {
  Buffer x(rows * s.in), w(s.out * s.in), bias(s.out), y(rows * s.out);
  fill_random(x, 1);
  fill_random(w, 2);
  fill_random(bias, 3);
  fill_zero(y);
  const PackedWeight packed({w.data(), s.in, s.out});
  double training = 1e30, inference = 1e30;
  for (int round = 0; round < 5; ++round) {
    training = std::min(training, sample_ms([&] {
                          for_pieces(rows, s.out, [&](int64_t begin, int64_t end) {
                            for (int64_t r = begin; r < end; ++r) std::copy_n(bias.data(), s.out, y.data() + r * s.out);
                          });
                          gemm({.m = rows,
                                .n = s.out,
                                .k = s.in,
                                .a = x.data(),
                                .b = w.data(),
                                .c = y.data(),
                                .a_stride = s.in,
                                .b_stride = s.in,
                                .c_stride = s.out,
                                .b_transposed = true,
                                .beta = 1.0f});
                        }));
    inference = std::min(inference, sample_ms([&] { multiply(packed, {rows, x.data(), bias.data(), y.data()}); }));
  }
  const double gflop = 2e-6 * static_cast<double>(rows * s.in * s.out);
  return {gflop / training, gflop / inference};
}

}  // namespace

void print_inference_table(int threads) {
  omp_set_num_threads(threads);
  fmt::print("\nrows times a weight, GFLOP/s: in training, in inference; {} thread{}, best of 5\n{:>5} {:>5}", threads,
             threads == 1 ? "" : "s", "in", "out");
  for (const int64_t rows : kRows) fmt::print(" {:>8} rows", rows);
  fmt::print("\n");
  for (const Shape& s : kShapes) {
    fmt::print("{:5} {:5}", s.in, s.out);
    for (const int64_t rows : kRows) {
      const Speeds speeds = measure(s, rows);
      fmt::print(" {:6.1f} {:6.1f}", speeds.training, speeds.inference);
    }
    fmt::print("   {}\n", s.what);
  }
}

}  // namespace heed::bench
