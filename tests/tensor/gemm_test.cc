#include "heed/tensor/gemm.h"

#include <limits>

#include "tests/tensor/gradient_check.h"

namespace heed::test {
namespace {

struct Case {
  int64_t m, n, k;
  int64_t gap = 0;  // numbers between rows that belong to nobody
};

const Case kCases[] = {{1, 1, 1}, {7, 5, 3}, {63, 65, 17, 3}, {1, 300, 200},     {300, 1, 50, 1}, {33, 34, 0},
                       {0, 5, 5}, {5, 0, 5}, {257, 513, 65},  {260, 40, 130, 5}, {2, 3, 700}};

void check(const Case& c, bool a_transposed, bool b_transposed, float alpha, float beta) {
  const auto store = [&](const Matrix& m, bool transposed, int64_t& stride) {
    const int64_t rows = transposed ? m.cols : m.rows, cols = transposed ? m.rows : m.cols;
    stride = cols + c.gap;
    std::vector<float> out(static_cast<size_t>(rows * stride + 1), std::numeric_limits<float>::quiet_NaN());
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < cols; ++j)
        out[static_cast<size_t>(i * stride + j)] = static_cast<float>(transposed ? m(j, i) : m(i, j));
    return out;
  };
  const Matrix a = random(c.m, c.k), b = random(c.k, c.n), before = random(c.m, c.n);
  Gemm g{.m = c.m, .n = c.n, .k = c.k, .a_transposed = a_transposed, .b_transposed = b_transposed};
  g.alpha = alpha;
  g.beta = beta;
  const std::vector<float> a_data = store(a, a_transposed, g.a_stride), b_data = store(b, b_transposed, g.b_stride);
  // With beta 0 nothing of C may be read: it is NaN then.
  std::vector<float> c_data = store(beta == 0.0f ? Matrix(c.m, c.n, std::nan("")) : before, false, g.c_stride);
  g.a = a_data.data();
  g.b = b_data.data();
  g.c = c_data.data();
  gemm(g);
  for (int64_t i = 0; i < c.m; ++i)
    for (int64_t j = 0; j < g.c_stride; ++j) {
      const float got = c_data[static_cast<size_t>(i * g.c_stride + j)];
      if (j >= c.n) {
        ASSERT_TRUE(std::isnan(got)) << "written between the rows";
        continue;
      }
      double sum = 0.0;
      for (int64_t l = 0; l < c.k; ++l) sum += a(i, l) * b(l, j);
      const double expected = alpha * sum + (beta == 0.0f ? 0.0 : beta * before(i, j));
      ASSERT_NEAR(got, expected, 2e-5 * (1.0 + std::sqrt(static_cast<double>(c.k)))) << i << ", " << j;
    }
}

TEST(Gemm, AllOrdersAndStrides) {
  for (const Case& c : kCases)
    for (const bool ta : {false, true})
      for (const bool tb : {false, true})
        for (const auto& [alpha, beta] : {std::pair{1.0f, 0.0f}, {1.0f, 1.0f}, {-0.5f, 0.25f}}) {
          SCOPED_TRACE(::testing::Message()
                       << c.m << " " << c.n << " " << c.k << (ta ? " a^T" : "") << (tb ? " b^T" : ""));
          check(c, ta, tb, alpha, beta);
        }
}

TEST(Gemm, AnyNumberOfThreads) {
  const int before = omp_get_max_threads();
  for (const auto& [m, n, k] :
       {std::tuple<int64_t, int64_t, int64_t>{530, 1030, 70}, {64, 768, 256}, {16, 100, 3000}, {1, 1, 100000}}) {
    const std::vector<float> a = to_float(random(m, k)), b = to_float(random(k, n));
    std::vector<std::vector<float>> results;
    for (const int threads : {1, 2, 3}) {
      omp_set_num_threads(threads);
      std::vector<float> c(static_cast<size_t>(m * n));
      gemm({.m = m,
            .n = n,
            .k = k,
            .a = a.data(),
            .b = b.data(),
            .c = c.data(),
            .a_stride = k,
            .b_stride = n,
            .c_stride = n});
      results.push_back(c);
    }
    EXPECT_EQ(results[0], results[1]);
    EXPECT_EQ(results[0], results[2]);
  }
  omp_set_num_threads(before);
}

}  // namespace
}  // namespace heed::test
