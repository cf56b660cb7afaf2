#include "product_table.h"

#include <fmt/core.h>
#include <omp.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>

#include "buffer.h"
#include "heed/tensor/product.h"
#include "sgemm.h"
#include "timing.h"

namespace heed::bench {
namespace {

struct Shape {
  int64_t in, out;
  const char* what;
};
constexpr Shape kShapes[] = {{128, 128, "Transformer of width 128"},
                             {128, 384, ""},
                             {128, 256, ""},
                             {256, 128, ""},
                             {128, 10000, ""},
                             {256, 768, "GRU of width 256"},
                             {256, 10000, ""},
                             {512, 1536, "Transformer of width 512"},
                             {512, 2048, ""},
                             {2048, 512, ""},
                             {512, 10000, ""}};
constexpr int64_t kInferenceRows[] = {1, 5, 32, 160, 512};
constexpr int64_t kTrainingRows = 3000;
constexpr int64_t kLogitRows = 256;  // the output layer works on this many at a time
constexpr int64_t kManyClasses = 5000;

/// Best times of two contestants that take turns, as GFLOP/s: oneDNN, heed.
struct Speeds {
  double onednn = 0.0, heed = 0.0;
};
Speeds race(double gflop, const std::function<void()>& onednn, const std::function<void()>& own) {
  double a = 1e30, b = 1e30;
  for (int round = 0; round < 7; ++round) {
    a = std::min(a, sample_ms(onednn));
    b = std::min(b, sample_ms(own));
  }
  return {1e3 * gflop / a, 1e3 * gflop / b};
}

struct Layer {
  int64_t rows, in, out;
  Buffer x, w, y, d_x, d_w;

  Layer(const Shape& s, int64_t count)
      : rows(count), in(s.in), out(s.out), x(rows * in), w(out * in), y(rows * out), d_x(rows * in), d_w(out * in) {
    fill_random(x, 1);
    fill_random(w, 2);
    fill_random(y, 3);
  }
  double gflop() const { return 2e-9 * static_cast<double>(rows * in * out); }

  Speeds forward() {  // y = x W^T
    const auto packed = float32_weights.pack({w.data(), in, out, WeightOrder::out_in});
    return race(
        gflop(),
        [&] {
          sgemm({.m = rows, .n = out, .k = in, .a = x.data(), .b = w.data(), .c = y.data(), .b_transposed = true});
        },
        [&] { multiply(*packed, {.rows = rows, .x = x.data(), .y = y.data()}); });
  }
  Speeds to_rows() {  // d_x = d_y W
    const auto packed = float32_weights.pack({w.data(), out, in, WeightOrder::in_out});
    return race(
        gflop(), [&] { sgemm({.m = rows, .n = in, .k = out, .a = y.data(), .b = w.data(), .c = d_x.data()}); },
        [&] { multiply(*packed, {.rows = rows, .x = y.data(), .y = d_x.data()}); });
  }
  Speeds to_weight() {  // d_W = d_y^T x
    return race(
        gflop(),
        [&] {
          sgemm({.m = out, .n = in, .k = rows, .a = y.data(), .b = x.data(), .c = d_w.data(), .a_transposed = true});
        },
        [&] {
          multiply({.rows = rows,
                    .left = y.data(),
                    .left_cols = out,
                    .right = x.data(),
                    .right_cols = in,
                    .sum = {d_w.data(), true}});
        });
  }
};

void print(const Speeds& s) { fmt::print(" {:5.0f} {:5.0f} {:5.2f} |", s.onednn, s.heed, s.heed / s.onednn); }

}  // namespace

void print_product_table(int threads) {
  omp_set_num_threads(threads);
  const char* plural = threads == 1 ? "" : "s";
  fmt::print("\nproducts of a training step, GFLOP/s: oneDNN, heed, ratio; {} thread{}, best of 7 rounds\n", threads,
             plural);
  fmt::print("{:>5} {:>5} {:>5} | {:>17} | {:>17} | {:>17} |\n", "rows", "in", "out", "y = x W^T", "d_x = d_y W",
             "d_W = d_y^T x");
  for (const Shape& s : kShapes) {
    Layer layer(s, s.out > kManyClasses ? kLogitRows : kTrainingRows);
    fmt::print("{:5} {:5} {:5} |", layer.rows, s.in, s.out);
    print(layer.forward());
    print(layer.to_rows());
    print(layer.to_weight());
    fmt::print(" {}\n", s.what);
  }
  fmt::print("\nrows times a weight that was packed before, as in inference\n{:>5} {:>5}", "in", "out");
  for (const int64_t rows : kInferenceRows) fmt::print(" | {:>12} row{}", rows, rows == 1 ? " " : "s");
  fmt::print(" |\n");
  for (const Shape& s : kShapes) {
    fmt::print("{:5} {:5} |", s.in, s.out);
    for (const int64_t rows : kInferenceRows) print(Layer(s, rows).forward());
    fmt::print(" {}\n", s.what);
  }
}

}  // namespace heed::bench
