#include "heed/tensor/op/arrange.h"

#include "heed/tensor/op/arithmetic.h"
#include "tests/tensor/gradient_check.h"

namespace heed::test {
namespace {

const std::vector<std::pair<int64_t, int64_t>> kArrangeShapes = {{0, 7}, {1, 1}, {1, 65}, {7, 63}, {65, 1}, {33, 40}};

TEST(Arrange, Reshape) {
  check_gradients(
      {random(6, 4)},
      [](Tape&, const Tensors& in) -> Tensors {
        const Tensor x = scale(in[0], 2.0f);
        // the view of a view, a view beside its origin, and two views of one tensor
        const Tensor flat = reshape(x, 1, 24);
        EXPECT_EQ(flat.data(), x.data());
        return {reshape(flat, 8, 3), flat, reshape(x, 3, 8), x, reshape(in[0], 2, 12)};
      },
      [](const Matrices& in) -> Matrices {
        Matrices out;
        for (const auto& [r, c, f] : {std::tuple{8, 3, 2.0}, {1, 24, 2.0}, {3, 8, 2.0}, {6, 4, 2.0}, {2, 12, 1.0}}) {
          Matrix m(r, c);
          for (size_t i = 0; i < 24; ++i) m.values[i] = f * in[0].values[i];
          out.push_back(m);
        }
        return out;
      });
}

TEST(Arrange, Transpose) {
  for (const auto& [n, d] : kArrangeShapes)
    check_gradients(
        {random(n, d)},
        [](Tape&, const Tensors& in) -> Tensors {
          return {transpose(in[0]), transpose(transpose(in[0]))};
        },
        [](const Matrices& in) -> Matrices {
          const Matrix& x = in[0];
          return {make_matrix(x.cols, x.rows, [&](int64_t r, int64_t c) { return x(c, r); }), x};
        });
}

TEST(Arrange, Columns) {
  for (const int64_t n : {0, 1, 7})
    check_gradients(
        {random(n, 9)},
        [](Tape&, const Tensors& in) -> Tensors {
          return {columns(in[0], 0, 9), columns(in[0], 2, 3), columns(in[0], 8, 1), columns(in[0], 4, 0)};
        },
        [](const Matrices& in) -> Matrices {
          const auto part = [&](int64_t first, int64_t count) {
            return make_matrix(in[0].rows, count, [&](int64_t r, int64_t c) { return in[0](r, first + c); });
          };
          return {part(0, 9), part(2, 3), part(8, 1), part(4, 0)};
        });
}

TEST(Arrange, ConcatColumns) {
  for (const int64_t n : {0, 1, 7})
    check_gradients(
        {random(n, 3), random(n, 65), random(n, 0)},
        [](Tape&, const Tensors& in) -> Tensors {
          return {concat_columns({in[0], in[1], in[2], in[0]})};
        },
        [](const Matrices& in) -> Matrices {
          return {make_matrix(in[0].rows, 71, [&](int64_t r, int64_t c) {
            return c < 3 ? in[0](r, c) : c < 68 ? in[1](r, c - 3) : in[0](r, c - 68);
          })};
        });
}

TEST(Arrange, ConcatRows) {
  for (const int64_t d : {1, 7, 65})
    check_gradients(
        {random(3, d), random(5, d), random(0, d)},
        [](Tape&, const Tensors& in) -> Tensors {
          return {concat_rows({in[0], in[2], in[1], in[0]})};
        },
        [](const Matrices& in) -> Matrices {
          return {make_matrix(11, in[0].cols, [&](int64_t r, int64_t c) {
            return r < 3 ? in[0](r, c) : r < 8 ? in[1](r - 3, c) : in[0](r - 8, c);
          })};
        });
}

TEST(Arrange, GatherRows) {
  for (const int64_t d : {1, 7, 65})
    check_gradients(
        {random(5, d)},
        [](Tape&, const Tensors& in) -> Tensors {
          const std::vector<int64_t> some = {4, 0, 4, 4, 1}, none;  // gone before the backward
          return {gather_rows(in[0], some), gather_rows(in[0], none)};
        },
        [](const Matrices& in) -> Matrices {
          const int64_t some[] = {4, 0, 4, 4, 1};
          return {make_matrix(5, in[0].cols, [&](int64_t r, int64_t c) { return in[0](some[r], c); }),
                  Matrix(0, in[0].cols)};
        });
}

TEST(Arrange, RepeatRows) {
  const std::vector<int64_t> at = {0, 2, 2, 7, 8};
  for (const int64_t d : {1, 7, 65})
    check_gradients(
        {random(4, d)},
        [&](Tape& tape, const Tensors& in) -> Tensors { return {repeat_rows(in[0], tape.offsets(at))}; },
        [&](const Matrices& in) -> Matrices {
          const int64_t of[] = {0, 0, 2, 2, 2, 2, 2, 3};
          return {make_matrix(8, in[0].cols, [&](int64_t r, int64_t c) { return in[0](of[r], c); })};
        });
}

TEST(Arrange, CacheThatFills) {
  // Two sequences, room for three rows, one written per step. Each step reads the whole cache with its own weights; a
  // row that is written a second time has only the effect it had before that.
  constexpr int64_t kCapacity = 3, kWidth = 5;
  check_gradients(
      {random(2, kWidth), random(2, kWidth), random(6, kWidth), random(6, kWidth), random(2, kWidth)},
      [](Tape& tape, const Tensors& in) -> Tensors {
        const Tensor cache = make_cache(tape, 2 * kCapacity, kWidth);
        write_rows(cache, in[0], kCapacity, 0);
        const Tensor first = add(cache, in[2]);
        write_rows(cache, scale(in[1], 2.0f), kCapacity, 1);
        const Tensor second = add(cache, in[3]);
        write_rows(cache, in[4], kCapacity, 0);
        return {first, second, add(cache, cache)};
      },
      [](const Matrices& in) -> Matrices {
        const auto row = [&](const Matrix& m, int64_t r, int64_t c) { return m(r / kCapacity, c); };
        return {make_matrix(
                    6, kWidth,
                    [&](int64_t r, int64_t c) { return in[2](r, c) + (r % kCapacity == 0 ? row(in[0], r, c) : 0.0); }),
                make_matrix(6, kWidth,
                            [&](int64_t r, int64_t c) {
                              return in[3](r, c) + (r % kCapacity == 0   ? row(in[0], r, c)
                                                    : r % kCapacity == 1 ? 2 * row(in[1], r, c)
                                                                         : 0.0);
                            }),
                make_matrix(6, kWidth, [&](int64_t r, int64_t c) {
                  return r % kCapacity == 0 ? 2 * row(in[4], r, c) : r % kCapacity == 1 ? 4 * row(in[1], r, c) : 0.0;
                })};
      });
}

TEST(Arrange, CacheWithoutRecording) {
  Tape tape({.recording = false});
  const Tensor cache = make_cache(tape, 4, 2);
  EXPECT_FALSE(cache.needs_gradient());
  write_rows(cache, tape.filled(2, 2, 3.0f), 2, 1);
  EXPECT_EQ(copy_of(cache.data(), 8), (std::vector<float>{0, 0, 3, 3, 0, 0, 3, 3}));
}

TEST(Arrange, AnyNumberOfThreads) {
  std::vector<int64_t> some(900), at = {0};
  for (size_t i = 0; i < some.size(); ++i) some[i] = static_cast<int64_t>(i * i % 301);
  for (int64_t b = 0; b < 301; ++b) at.push_back(at.back() + b % 5);
  check_threads({random(301, 257), random(301, 100)}, [&](Tape& tape, const Tensors& in) -> Tensors {
    const Tensor x = in[0];
    return {reshape(x, 257, 301),
            transpose(x),
            columns(x, 3, 200),
            concat_columns({x, in[1], x}),
            concat_rows({x, x}),
            gather_rows(x, some),
            repeat_rows(x, tape.offsets(at))};
  });
}

TEST(Arrange, Errors) {
  Tape tape;
  const Tensor x = tape.filled(2, 5, 1.0f), y = tape.filled(3, 4, 1.0f);
  const std::vector<int64_t> rows = {0, 1, 2}, at = {0, 3, 2, 5}, late = {1, 2, 3, 4};
  expect_error([&] { reshape(x, 3, 4); }, "reshape: [2, 5] cannot become [3, 4]");
  expect_error([&] { reshape(x, -2, -5); }, "reshape: [2, 5] cannot become [-2, -5]");
  expect_error([&] { columns(x, 3, 3); }, "columns: [3, 6) is outside the 5 columns of x");
  expect_error([&] { concat_columns({x, y}); }, "concat_columns: a part has 3 rows, the first 2");
  expect_error([&] { concat_rows({x, y}); }, "concat_rows: a part has 4 columns, the first 5");
  expect_error([&] { concat_rows(std::span<const Tensor>()); }, "concat_rows: no parts");
  expect_error([&] { gather_rows(x, rows); }, "gather_rows: index 2 is row 2, but there are 2 rows");
  expect_error([&] { repeat_rows(x, tape.offsets(at)); }, "repeat_rows: 2 rows for 3 sequences");
  expect_error([&] { repeat_rows(y, tape.offsets(at)); }, "repeat_rows: sequence 1 has the length -1");
  expect_error([&] { repeat_rows(y, tape.offsets(late)); }, "repeat_rows: the offsets start at 1, not at 0");
  expect_error([&] { write_rows(x, y, 2, 2); }, "write_rows: row 2 is outside the capacity of 2");
  expect_error([&] { write_rows(x, y, 2, 1); }, "write_rows: the cache is [2, 5], expected [6, 4]");
  expect_error([&] { write_rows(tape.filled(6, 4, 0.0f), y, 2, 1); },
               "write_rows: the cache is a read-only tensor; make_cache() makes a writable one");
  expect_error([&] { transpose(Tensor()); }, "transpose: x is empty");
}

}  // namespace
}  // namespace heed::test
