#include "heed/layer/initialise.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "heed/kernels/exact_math.h"
#include "heed/kernels/splitmix64.h"
#include "heed/kernels/threads.h"

namespace heed {

namespace {

/// Random numbers that are the same on every machine and with every standard library: splitmix64 and Box-Muller.
/// (std::normal_distribution may differ from one library to the next.)
class Stream {
 public:
  explicit Stream(uint64_t seed) : state_(seed) {}

  uint64_t bits() { return kernels::splitmix64(state_ += kernels::kSplitmix64Step); }
  double uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }  // in [0, 1)
  double normal() {
    const double radius = std::sqrt(-2.0 * exact::log(1.0 - uniform()));  // 1 - u is never 0
    return radius * exact::cos_turns(uniform());
  }

 private:
  uint64_t state_;
};

double dot(const double* a, const double* b, int64_t n) {
  // Eight sums instead of one: the compiler may not change the order of a single one, and would wait for every
  // addition.
  double sums[8] = {};
  int64_t i = 0;
  for (; i + 8 <= n; i += 8)
    for (int64_t j = 0; j < 8; ++j) sums[j] += a[i + j] * b[i + j];
  double sum = 0.0;
  for (const double part : sums) sum += part;
  for (; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

/// `rows` <= cols orthonormal rows: Gram-Schmidt of normal numbers. Each finished row is taken out of all that follow
/// (the "modified" order): of random rows in double, what remains of the others is far below a float's last bit.
void fill_orthonormal(float* values, int64_t rows, int64_t cols, Stream random) {
  std::vector<double> all(static_cast<size_t>(rows * cols));
  for (double& value : all) value = random.normal();
  for (int64_t r = 0; r < rows; ++r) {
    double* row = &all[r * cols];
    const double length = std::sqrt(dot(row, row, cols));
    for (int64_t c = 0; c < cols; ++c) row[c] /= length;
    for (int64_t later = r + 1; later < rows; ++later) {
      double* other = &all[later * cols];
      const double part = dot(row, other, cols);
      for (int64_t c = 0; c < cols; ++c) other[c] -= part * row[c];
    }
  }
  std::copy(all.begin(), all.end(), values);
}

void fill_orthogonal(std::span<float> values, int64_t rows, int64_t cols, uint64_t seed) {
  if (values.empty()) return;
  const int64_t blocks = (rows + cols - 1) / cols;
  kernels::for_each_task(blocks, kernels::most_threads(), [&](int64_t block) {
    const int64_t first = block * cols;
    Stream seeds(seed + static_cast<uint64_t>(block));  // a block's numbers do not depend on the other blocks
    fill_orthonormal(values.data() + first * cols, std::min(cols, rows - first), cols, Stream(seeds.bits()));
  });
}

}  // namespace

void Initialiser::fill(std::span<float> values, int64_t rows, int64_t cols, uint64_t seed) const {
  Stream random(seed);
  const double fans = static_cast<double>(std::max<int64_t>(rows + cols, 1));
  const auto fill_uniform = [&](double reach) {
    for (float& value : values) value = static_cast<float>(reach * (2.0 * random.uniform() - 1.0));
  };
  const auto fill_normal = [&](double deviation) {
    for (float& value : values) value = static_cast<float>(deviation * random.normal());
  };
  switch (kind) {
    case Kind::constant:
      return std::fill(values.begin(), values.end(), a);
    case Kind::uniform:
      return fill_uniform(a);
    case Kind::normal:
      return fill_normal(a);
    case Kind::xavier_uniform:
      return fill_uniform(a * std::sqrt(6.0 / fans));
    case Kind::orthogonal:
      fill_orthogonal(values, rows, cols, seed);
      for (float& value : values) value *= a;
  }
}

}  // namespace heed
