#include "heed/tensor/packed_weight.h"

#include <limits>
#include <map>
#include <numeric>
#include <random>

#include "tests/tensor/gradient_check.h"

namespace heed::test {
namespace {

struct Sizes {
  int64_t rows, in, out;
};

struct Case {
  Sizes sizes;
  Matrix x, w, bias;  // w [out, in]
  std::vector<float> x_data, out_in, in_out, bias_data;

  explicit Case(const Sizes& s)
      : sizes(s),
        x(random(s.rows, s.in)),
        w(random(s.out, s.in)),
        bias(random(1, s.out)),
        x_data(to_float(x)),
        out_in(to_float(w)),
        in_out(to_float(make_matrix(s.in, s.out, [&](int64_t i, int64_t o) { return w(o, i); }))),
        bias_data(to_float(bias)) {}

  WeightView view(WeightOrder order) const {
    return {order == WeightOrder::kOutIn ? out_in.data() : in_out.data(), sizes.in, sizes.out, order};
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
    for (const Sizes& s : {Sizes{1, 1, 1},
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
      const Case c(s);
      for (const auto order : {WeightOrder::kOutIn, WeightOrder::kInOut})
        for (const bool with_bias : {false, true}) {
          SCOPED_TRACE(::testing::Message() << s.rows << " " << s.in << " " << s.out);
          const std::vector<float> y = c.run(PackedWeight(c.view(order)), first(s.rows), with_bias);
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
    for (const auto& [in, out] : {std::pair<int64_t, int64_t>{128, 160}, {67, 45}, {300, 200}}) {
      const Case c({70, in, out});
      const PackedWeight packed(c.view(WeightOrder::kOutIn));
      const std::vector<float> all = c.run(packed, first(70));
      for (int64_t rows = 1; rows < 70; ++rows) expect_rows(c.run(packed, first(rows)), all, first(rows));
    }
  });
}

TEST(PackedWeight, RowsDoNotDependOnTheirPlace) {
  on_every_isa([] {
    const Case c({70, 130, 100});
    const PackedWeight packed(c.view(WeightOrder::kOutIn));
    const std::vector<float> all = c.run(packed, first(70));
    std::mt19937_64 random(1);
    for (int times = 0; times < 20; ++times) {
      std::vector<int64_t> rows = first(70);
      std::shuffle(rows.begin(), rows.end(), random);
      rows.resize(1 + random() % 70);
      expect_rows(c.run(packed, rows), all, rows);
    }
  });
}

TEST(PackedWeight, AnyNumberOfThreads) {
  const int before = omp_get_max_threads();
  on_every_isa([] {
    for (const Sizes& s : {Sizes{1, 128, 10001}, {37, 256, 768}, {1100, 512, 33}, {700, 70, 300}}) {
      const Case c(s);
      std::vector<std::vector<float>> results;
      for (const int threads : {1, 2, 3}) {
        omp_set_num_threads(threads);
        results.push_back(c.run(PackedWeight(c.view(WeightOrder::kOutIn)), first(s.rows)));
      }
      EXPECT_EQ(results[0], results[1]);
      EXPECT_EQ(results[0], results[2]);
    }
  });
  omp_set_num_threads(before);
}

/// The chain of a number is the same everywhere; only an instruction set without a fused multiply-add rounds twice.
TEST(PackedWeight, TheSameBitsWithFusedMultiplyAdd) {
  const Case c({29, 129, 77});
  const std::vector<std::string> there = kernels::available_isas();
  std::map<std::string, std::vector<float>> results;
  for (const std::string isa : {"avx512", "avx2"}) {
    if (std::find(there.begin(), there.end(), isa) == there.end()) continue;
    ASSERT_TRUE(kernels::use_isa(isa));
    results[isa] = c.run(PackedWeight(c.view(WeightOrder::kOutIn)), first(29));
  }
  ASSERT_TRUE(kernels::use_isa(""));
  for (const auto& [isa, result] : results) EXPECT_EQ(result, results.begin()->second) << isa;
}

TEST(PackedWeight, KnowsWhatItCopied) {
  Case c({1, 40, 50});
  const PackedWeight packed(c.view(WeightOrder::kOutIn));
  EXPECT_TRUE(packed.is_copy_of(c.view(WeightOrder::kOutIn)));
  EXPECT_TRUE(packed.is_copy_of(c.view(WeightOrder::kInOut))) << "the order in memory is another, the weight is not";
  c.out_in.back() += 1.0f;
  EXPECT_FALSE(packed.is_copy_of(c.view(WeightOrder::kOutIn)));
}

}  // namespace
}  // namespace heed::test
