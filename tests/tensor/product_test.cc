#include "heed/tensor/product.h"

#include <limits>
#include <map>
#include <numeric>
#include <random>

#include "tests/tensor/gradient_check.h"
#include "tests/threads.h"

namespace heed::test {
namespace {

struct ProductSizes {
  int64_t rows, in, out;
};

struct ProductCase {
  ProductSizes sizes;
  Matrix x, w, bias;  // w [out, in]
  std::vector<float> x_data, out_in, in_out, bias_data;

  explicit ProductCase(const ProductSizes& s)
      : sizes(s),
        x(random(s.rows, s.in)),
        w(random(s.out, s.in)),
        bias(random(1, s.out)),
        x_data(to_float(x)),
        out_in(to_float(w)),
        in_out(to_float(make_matrix(s.in, s.out, [&](int64_t i, int64_t o) { return w(o, i); }))),
        bias_data(to_float(bias)) {}

  WeightView view(WeightOrder order) const {
    return {order == WeightOrder::out_in ? out_in.data() : in_out.data(), sizes.in, sizes.out, order};
  }
  /// The rows `which` of x times the weight; what stands behind the result must stay.
  std::vector<float> run(const PackedWeight& packed, const std::vector<int64_t>& which, bool with_bias = true) const {
    std::vector<float> rows;
    for (const int64_t r : which)
      rows.insert(rows.end(), x_data.begin() + r * sizes.in, x_data.begin() + (r + 1) * sizes.in);
    const auto count = static_cast<int64_t>(which.size());
    std::vector<float> y(static_cast<size_t>(count * sizes.out + 1), std::numeric_limits<float>::quiet_NaN());
    multiply(packed, {count, rows.data(), with_bias ? bias_data.data() : nullptr, y.data()});
    EXPECT_TRUE(std::isnan(y.back())) << "written behind the result";
    y.pop_back();
    return y;
  }
};

std::vector<int64_t> first(int64_t count) {
  std::vector<int64_t> rows(static_cast<size_t>(count));
  std::iota(rows.begin(), rows.end(), 0);
  return rows;
}

TEST(PackedWeight, EqualsTheFormula) {
  on_every_isa([] {
    for (const ProductSizes& s : {ProductSizes{1, 1, 1},
                                  {7, 5, 3},
                                  {1, 63, 65},
                                  {65, 7, 1},
                                  {13, 33, 31},
                                  {2, 257, 96},
                                  {3, 64, 130},
                                  {4, 0, 5},
                                  {5, 9, 0},
                                  {0, 5, 5},
                                  {25, 17, 32},
                                  {530, 129, 161}}) {
      const ProductCase c(s);
      for (const auto order : {WeightOrder::out_in, WeightOrder::in_out})
        for (const bool with_bias : {false, true}) {
          SCOPED_TRACE(::testing::Message() << s.rows << " " << s.in << " " << s.out);
          const std::vector<float> y = c.run(*float32_weights.pack(c.view(order)), first(s.rows), with_bias);
          for (int64_t r = 0; r < s.rows; ++r)
            for (int64_t o = 0; o < s.out; ++o) {
              double sum = with_bias ? c.bias(0, o) : 0.0;
              for (int64_t i = 0; i < s.in; ++i) sum += c.x(r, i) * c.w(o, i);
              ASSERT_NEAR(y[static_cast<size_t>(r * s.out + o)], sum, 1e-5 * (1.0 + std::sqrt(1.0 * s.in)))
                  << r << ", " << o;
            }
        }
    }
  });
}

/// The rows of `got`, which are those of `which`, have the bits of the same rows of `all`.
void expect_rows(const std::vector<float>& got, const std::vector<float>& all, const std::vector<int64_t>& which) {
  const size_t out = got.size() / which.size();
  for (size_t r = 0; r < which.size(); ++r)
    ASSERT_EQ(0, std::memcmp(&got[r * out], &all[static_cast<size_t>(which[r]) * out], out * sizeof(float)))
        << "row " << r << " of " << which.size();
}

TEST(PackedWeight, RowsDoNotDependOnTheNumberOfRows) {
  on_every_isa([] {
    for (const auto& [in, out] : {std::pair<int64_t, int64_t>{128, 160}, {67, 45}, {300, 200}, {300, 1}}) {
      const ProductCase c({70, in, out});
      const auto packed = float32_weights.pack(c.view(WeightOrder::out_in));
      const std::vector<float> all = c.run(*packed, first(70));
      for (int64_t rows = 1; rows < 70; ++rows) expect_rows(c.run(*packed, first(rows)), all, first(rows));
    }
  });
}

TEST(PackedWeight, RowsDoNotDependOnTheirPlace) {
  on_every_isa([] {
    const ProductCase c({70, 130, 100});
    const auto packed = float32_weights.pack(c.view(WeightOrder::out_in));
    const std::vector<float> all = c.run(*packed, first(70));
    std::mt19937_64 random(1);
    for (int times = 0; times < 20; ++times) {
      std::vector<int64_t> rows = first(70);
      std::shuffle(rows.begin(), rows.end(), random);
      rows.resize(1 + random() % 70);
      expect_rows(c.run(*packed, rows), all, rows);
    }
  });
}

TEST(PackedWeight, AnyNumberOfThreads) {
  on_every_isa([] {
    for (const ProductSizes& s : {ProductSizes{1, 128, 10001}, {37, 256, 768}, {1100, 512, 33}, {700, 70, 300}}) {
      const ProductCase c(s);
      std::vector<std::vector<float>> results;
      for (const int threads : {1, 2, 3}) {
        const heed::test::Threads guard(threads);
        results.push_back(c.run(*float32_weights.pack(c.view(WeightOrder::out_in)), first(s.rows)));
      }
      EXPECT_EQ(results[0], results[1]);
      EXPECT_EQ(results[0], results[2]);
    }
  });
}

/// The chain of a number is the same everywhere; only an instruction set without a fused multiply-add rounds twice.
TEST(PackedWeight, TheSameBitsWithFusedMultiplyAdd) {
  const ProductCase c({29, 129, 77});
  const std::vector<std::string> there = kernels::available_isas();
  std::map<std::string, std::vector<float>> results;
  for (const std::string isa : {"avx512", "avx2"}) {
    if (std::find(there.begin(), there.end(), isa) == there.end()) continue;
    ASSERT_TRUE(kernels::use_isa(isa));
    results[isa] = c.run(*float32_weights.pack(c.view(WeightOrder::out_in)), first(29));
  }
  ASSERT_TRUE(kernels::use_isa(""));
  for (const auto& [isa, result] : results) EXPECT_EQ(result, results.begin()->second) << isa;
}

/// Every number is the chain that product.h promises, to the bit: with and without a start, deeper than a block.
TEST(RowProduct, IsOneChainOfMultiplyAdds) {
  on_every_isa([] {
    if (kernels::isa() != "avx512" && kernels::isa() != "avx2") return;  // the others round products before they add
    for (const ProductSizes& s : {ProductSizes{29, 1300, 77}, {3, 700, 64}, {13, 1, 5}, {29, 1300, 1}, {8, 5, 1}}) {
      const ProductCase c(s);
      const auto packed = float32_weights.pack(c.view(WeightOrder::out_in));
      for (const bool add : {false, true}) {
        std::vector<float> y(static_cast<size_t>(s.rows * s.out), 0.25f);
        multiply(*packed, {.rows = s.rows,
                           .x = c.x_data.data(),
                           .bias = add ? nullptr : c.bias_data.data(),
                           .y = y.data(),
                           .add = add});
        for (int64_t r = 0; r < s.rows; ++r)
          for (int64_t o = 0; o < s.out; ++o) {
            float sum = add ? 0.25f : c.bias_data[static_cast<size_t>(o)];
            for (int64_t i = 0; i < s.in; ++i)
              sum = std::fma(c.x_data[static_cast<size_t>(r * s.in + i)], c.out_in[static_cast<size_t>(o * s.in + i)],
                             sum);
            ASSERT_EQ(y[static_cast<size_t>(r * s.out + o)], sum) << r << ", " << o;
          }
      }
    }
  });
}

struct Columns {
  int64_t rows, left, right;
  int64_t gap = 0;  // numbers between rows that belong to nobody
};

/// left^T right by heed. `before`: what the sum holds already; NaN where nothing may be read.
std::vector<float> gradient(const Columns& c, const std::vector<float>& left, const std::vector<float>& right, bool add,
                            std::vector<float>* left_sum = nullptr) {
  const auto numbers = static_cast<size_t>(c.left * c.right);
  std::vector<float> sum(numbers + 1, add ? 0.5f : std::numeric_limits<float>::quiet_NaN());
  sum.back() = -7.0f;
  multiply(GradientProduct{.rows = c.rows,
                           .left = left.data(),
                           .left_cols = c.left,
                           .right = right.data(),
                           .right_cols = c.right,
                           .sum = {sum.data(), !add},
                           .left_sum = left_sum ? GradientSink{left_sum->data(), !add} : GradientSink{},
                           .left_stride = c.left + c.gap,
                           .right_stride = c.right + c.gap});
  EXPECT_EQ(sum.back(), -7.0f) << "written behind the result";
  sum.pop_back();
  return sum;
}

std::vector<float> with_gaps(const Matrix& m, int64_t gap) {
  // The last row has no gap behind it: nothing there may be read.
  std::vector<float> numbers(static_cast<size_t>(std::max<int64_t>(0, m.rows * (m.cols + gap) - gap)),
                             std::numeric_limits<float>::quiet_NaN());
  for (int64_t r = 0; r < m.rows; ++r)
    for (int64_t k = 0; k < m.cols; ++k)
      numbers[static_cast<size_t>(r * (m.cols + gap) + k)] = static_cast<float>(m(r, k));
  return numbers;
}

TEST(GradientProduct, EqualsTheFormulaAndIsOneChain) {
  on_every_isa([] {
    const bool fused = kernels::isa() == "avx512" || kernels::isa() == "avx2";
    for (const Columns& c : {Columns{1, 1, 1},
                             {7, 5, 3},
                             {3, 12, 32, 5},
                             {65, 63, 65, 3},
                             {0, 4, 5},
                             {5, 0, 3},
                             {600, 49, 33},
                             {257, 130, 300},
                             {31, 300, 1, 1},
                             {31, 30, 0},
                             {40, 1, 300}}) {
      const Matrix left = random(c.rows, c.left), right = random(c.rows, c.right);
      const std::vector<float> left_data = with_gaps(left, c.gap), right_data = with_gaps(right, c.gap);
      for (const bool add : {false, true}) {
        SCOPED_TRACE(::testing::Message() << c.rows << " " << c.left << " " << c.right << " add " << add);
        std::vector<float> left_sum(static_cast<size_t>(c.left), add ? 0.5f : std::nanf(""));
        const std::vector<float> sum = gradient(c, left_data, right_data, add, &left_sum);
        for (int64_t i = 0; i < c.left; ++i) {
          double exact = add ? 0.5 : 0.0;
          for (int64_t r = 0; r < c.rows; ++r) exact += left(r, i);
          ASSERT_NEAR(left_sum[static_cast<size_t>(i)], exact, 1e-6 * (1.0 + static_cast<double>(c.rows))) << i;
        }
        for (int64_t i = 0; i < c.left; ++i)
          for (int64_t j = 0; j < c.right; ++j) {
            float chain = add ? 0.5f : 0.0f;
            double exact = chain;
            for (int64_t r = 0; r < c.rows; ++r) {
              chain = std::fma(static_cast<float>(left(r, i)), static_cast<float>(right(r, j)), chain);
              exact += left(r, i) * right(r, j);
            }
            const float got = sum[static_cast<size_t>(i * c.right + j)];
            if (fused) {
              ASSERT_EQ(got, chain) << i << ", " << j;
            }
            ASSERT_NEAR(got, exact, 1e-5 * (1.0 + std::sqrt(1.0 * c.rows))) << i << ", " << j;
          }
      }
    }
  });
}

TEST(GradientProduct, AnyNumberOfThreads) {
  on_every_isa([] {
    for (const Columns& c : {Columns{300, 128, 128}, {64, 1000, 96}, {128, 70, 600}, {2000, 33, 65}}) {
      const std::vector<float> left = to_float(random(c.rows, c.left)), right = to_float(random(c.rows, c.right));
      std::vector<std::vector<float>> results;
      for (const int threads : {1, 2, 3}) {
        const heed::test::Threads guard(threads);
        results.push_back(gradient(c, left, right, false));
      }
      EXPECT_EQ(results[0], results[1]);
      EXPECT_EQ(results[0], results[2]);
    }
  });
}

TEST(PackedWeight, KnowsWhatItCopied) {
  ProductCase c({1, 40, 50});
  const auto packed = float32_weights.pack(c.view(WeightOrder::out_in));
  EXPECT_TRUE(packed->is_copy_of(c.view(WeightOrder::out_in)));
  EXPECT_TRUE(packed->is_copy_of(c.view(WeightOrder::in_out))) << "the order in memory is another, the weight is not";
  c.out_in.back() += 1.0f;
  EXPECT_FALSE(packed->is_copy_of(c.view(WeightOrder::out_in)));
}

}  // namespace
}  // namespace heed::test
