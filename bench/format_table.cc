#include "format_table.h"

#include <fmt/core.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "heed/kernels/isa.h"
#include "heed/tensor/format/all.h"
#include "heed/tensor/format/int8_view.h"
#include "heed/tensor/product.h"
#include "timing.h"

namespace heed::bench {
namespace {

struct FormatShape {
  int64_t in, out;
};
constexpr FormatShape kFormatShapes[] = {{64, 192},   {128, 128},  {128, 512},  {128, 10000}, {256, 768},  {512, 512},
                                         {512, 1536}, {512, 2048}, {2048, 512}, {512, 10000}, {512, 32000}};
constexpr int64_t kFormatRows[] = {1, 5, 32, 160, 512};
constexpr int kFormatRounds = 25;
constexpr double kShortSampleMs = 2;  // many short turns: on a busy machine one of them is quiet

std::vector<float> some_numbers(int64_t count, uint64_t seed) {
  std::vector<float> numbers(static_cast<size_t>(count));
  uint64_t state = seed;
  for (float& x : numbers) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    x = static_cast<float>(static_cast<int32_t>(state >> 32)) * 0x1p-31f;
  }
  return numbers;
}

struct Contestant {
  std::unique_ptr<PackedWeight> weight;
  int calls = 1;
  double best_ms = 1e30;

  void run(const RowProduct& product) {
    const double start = now_ms();
    for (int i = 0; i < calls; ++i) multiply(*weight, product);
    best_ms = std::min(best_ms, (now_ms() - start) / calls);
  }
};

}  // namespace

void print_format_table(int threads) {
  omp_set_num_threads(threads);
  const std::string isa = kernels::isa();  // it reads HEED_ISA, before the products are asked
  fmt::print("\nrows times a packed weight, {}{}, {} thread{}: GFLOP/s of float32, then times as fast as that\n", isa,
             quad_dots() ? " with VNNI" : "", threads, threads == 1 ? "" : "s");
  fmt::print("{:>5} {:>5}", "in", "out");
  for (const int64_t rows : kFormatRows) fmt::print(" | {:>10} row{}", rows, rows == 1 ? " " : "s");
  fmt::print(" |\n{:11}", "");
  for (size_t i = 0; i < std::size(kFormatRows); ++i) fmt::print(" |   f32 bf16 int8");
  fmt::print(" |\n");
  for (const FormatShape& s : kFormatShapes) {
    const std::vector<float> w = some_numbers(s.in * s.out, 1);
    fmt::print("{:5} {:5}", s.in, s.out);
    for (const int64_t rows : kFormatRows) {
      const std::vector<float> x = some_numbers(rows * s.in, 2);
      std::vector<float> y(static_cast<size_t>(rows * s.out));
      const RowProduct product{.rows = rows, .x = x.data(), .y = y.data()};
      std::vector<Contestant> all;
      for (const WeightFormat* format : all_weight_formats())
        all.push_back({format->pack({w.data(), s.in, s.out, WeightOrder::out_in})});
      for (Contestant& c : all) {
        c.run(product);
        c.run(product);
        c.calls = std::max(1, static_cast<int>(kShortSampleMs / c.best_ms));
        c.best_ms = 1e30;
      }
      for (int round = 0; round < kFormatRounds; ++round)
        for (Contestant& c : all) c.run(product);
      const double flop = 2.0 * static_cast<double>(rows * s.in * s.out);
      for (const Contestant& c : all)
        if (&c == all.data())
          fmt::print(" | {:5.0f}", flop / (1e6 * c.best_ms));
        else
          fmt::print(" {:4.2f}", all[0].best_ms / c.best_ms);
    }
    fmt::print(" |\n");
  }
}

}  // namespace heed::bench
