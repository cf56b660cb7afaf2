#include "heed/tensor/op/reduce.h"

#include "heed/base/error.h"
#include "tests/tensor/gradient_check.h"

namespace heed::test {
namespace {

Matrix total(const Matrix& x, const std::function<double(double, int64_t)>& f) {
  Matrix sum(1, 1);
  for (int64_t i = 0; i < x.size(); ++i) sum.values[0] += f(x.values[static_cast<size_t>(i)], i);
  return sum;
}

TEST(Reduce, AllKinds) {
  static const std::vector<float> numbers = to_float(random(1, 1000));
  for (const auto& [n, d] : {std::pair<int64_t, int64_t>{0, 7}, {1, 1}, {7, 63}, {65, 3}})
    check_gradients(
        {random(n, d)},
        [](Tape&, const Tensors& in) -> Tensors {
          return {sum(in[0]), mean(in[0]), weighted_sum(in[0], numbers.data()), sum_squares(in[0])};
        },
        [](const Matrices& in) -> Matrices {
          const Matrix& x = in[0];
          const double share = x.size() > 0 ? 1.0 / static_cast<double>(x.size()) : 0.0;
          return {total(x, [](double v, int64_t) { return v; }), total(x, [&](double v, int64_t) { return v * share; }),
                  total(x, [&](double v, int64_t i) { return v * numbers[static_cast<size_t>(i)]; }),
                  total(x, [](double v, int64_t) { return v * v; })};
        });
}

TEST(Reduce, LongSumsStayExact) {
  const std::vector<float> x(3'000'000, 0.1f);
  Tape tape;
  const Tensor t = tape.input(x.data(), 3000, 1000);
  EXPECT_FLOAT_EQ(sum(t).item(), 3'000'000 * 0.1f);
  EXPECT_FLOAT_EQ(mean(t).item(), 0.1f);
}

TEST(Reduce, AnyNumberOfThreads) {
  // Large numbers that cancel and leave small ones: the last bits of a sum in double, and with them its order, show.
  Matrix x = random(401, 998);
  for (size_t i = 0; i < x.values.size(); i += 2) {
    x.values[i] *= i % 3 == 0 ? 1e-6 : 1e8;
    x.values[i] = static_cast<float>(x.values[i]);
    x.values[x.values.size() - 1 - i] = i % 3 == 0 ? 0.0 : -x.values[i];
  }
  const std::vector<float> numbers(static_cast<size_t>(x.size()), 3.0f);
  check_threads({x}, [&](Tape&, const Tensors& in) -> Tensors {
    return {sum(in[0]), mean(in[0]), weighted_sum(in[0], numbers.data()), sum_squares(in[0])};
  });
}

TEST(Reduce, Errors) {
  expect_error([] { sum(Tensor()); }, "sum: x is empty");
  expect_error([] { mean(Tensor()); }, "mean: x is empty");
  expect_error([] { weighted_sum(Tensor(), nullptr); }, "weighted_sum: x is empty");
  expect_error([] { sum_squares(Tensor()); }, "sum_squares: x is empty");
}

TEST(Reduce, LargestColumns) {
  const std::vector<float> x = {1, 3, 2, -4, -4, -5, 0, 0, 7};
  Tape tape;
  EXPECT_EQ(largest_columns(tape.input(x.data(), 3, 3)), (std::vector<int32_t>{1, 0, 2}));
  EXPECT_TRUE(largest_columns(tape.input(x.data(), 0, 3)).empty());
  EXPECT_THROW(largest_columns(tape.input(x.data(), 3, 0)), Error);
}

}  // namespace
}  // namespace heed::test
