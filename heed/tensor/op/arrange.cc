#include "heed/tensor/op/arrange.h"

#include <algorithm>

#include "heed/tensor/gradient.h"
#include "heed/tensor/op/check.h"
#include "heed/tensor/tape.h"

namespace heed {

namespace {

/// A block of columns of a matrix.
struct Block {
  float* data;
  int64_t stride;
};

/// to[r, c] (+)= from[r, c] for blocks of [rows, cols].
void copy_block(Block from, Block to, int64_t rows, int64_t cols, bool overwrite = true) {
  for_pieces(rows, cols, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const float* source = from.data + r * from.stride;
      float* target = to.data + r * to.stride;
      if (overwrite)
        std::copy_n(source, cols, target);
      else
        for (int64_t c = 0; c < cols; ++c) target[c] += source[c];
    }
  });
}

/// Reads a gradient; the block is not written through.
Block gradient_of(Tensor t, int64_t first = 0) { return {const_cast<float*>(t.gradient()) + first, t.cols()}; }

}  // namespace

Tensor reshape(Tensor x, int64_t rows, int64_t cols) {
  expect_there("reshape", "x", x);
  expect(rows >= 0 && cols >= 0 && rows * cols == x.size(), "reshape: [{}, {}] cannot become [{}, {}]", x.rows(),
         x.cols(), rows, cols);
  Tensor y = x.tape().view(x, rows, cols);
  x.tape().on_backward([=] { y.tape().pass_gradient(y, x); });
  return y;
}

Tensor transpose(Tensor x) {
  expect_there("transpose", "x", x);
  Tape& tape = x.tape();
  const int64_t rows = x.rows(), cols = x.cols();
  Tensor y = tape.make_from(cols, rows, x);
  // In squares, so that both sides stay in the cache.
  constexpr int64_t kSide = 32;
  const auto run = [rows, cols](const auto& move) {
    for_pieces((rows + kSide - 1) / kSide, kSide * cols, [&](int64_t begin, int64_t end) {
      for (int64_t r0 = begin * kSide; r0 < std::min(rows, end * kSide); r0 += kSide)
        for (int64_t c0 = 0; c0 < cols; c0 += kSide)
          for (int64_t r = r0; r < std::min(rows, r0 + kSide); ++r)
            for (int64_t c = c0; c < std::min(cols, c0 + kSide); ++c) move(r * cols + c, c * rows + r);
    });
  };
  run([from = x.data(), to = y.data()](int64_t i, int64_t j) { to[j] = from[i]; });
  tape.on_backward([=] {
    const GradientSink d_x = x.sink();
    const float* g = y.gradient();
    if (d_x.fresh)
      run([=](int64_t i, int64_t j) { d_x.data[i] = g[j]; });
    else
      run([=](int64_t i, int64_t j) { d_x.data[i] += g[j]; });
  });
  return y;
}

Tensor columns(Tensor x, int64_t first, int64_t count) {
  expect_there("columns", "x", x);
  expect(first >= 0 && count >= 0 && first + count <= x.cols(), "columns: [{}, {}) is outside the {} columns of x",
         first, first + count, x.cols());
  Tape& tape = x.tape();
  Tensor y = tape.make_from(x.rows(), count, x);
  copy_block({x.data() + first, x.cols()}, {y.data(), count}, x.rows(), count);
  tape.on_backward([=] {
    GradientSink d_x = x.sink();
    clear_if_fresh(d_x, x.size());
    copy_block(gradient_of(y), {d_x.data + first, x.cols()}, x.rows(), count, false);
  });
  return y;
}

Tensor concat_columns(std::span<const Tensor> parts) {
  expect(!parts.empty(), "concat_columns: no parts");
  int64_t width = 0;
  bool needs_gradient = false;
  for (const Tensor part : parts) {
    expect_there("concat_columns", "a part", part);
    expect(part.rows() == parts[0].rows(), "concat_columns: a part has {} rows, the first {}", part.rows(),
           parts[0].rows());
    width += part.cols();
    needs_gradient |= part.needs_gradient();
  }
  Tape& tape = parts[0].tape();
  Tensor y = tape.make(parts[0].rows(), width, needs_gradient);
  int64_t first = 0;
  for (const Tensor part : parts) {
    copy_block({part.data(), part.cols()}, {y.data() + first, width}, y.rows(), part.cols());
    first += part.cols();
  }
  const Tensor* kept = tape.keep<Tensor>(parts);
  tape.on_backward([=, count = static_cast<int64_t>(parts.size())] {
    int64_t at = 0;
    for (int64_t i = 0; i < count; at += kept[i++].cols())
      if (const GradientSink d = kept[i].sink())
        copy_block(gradient_of(y, at), {d.data, kept[i].cols()}, y.rows(), kept[i].cols(), d.fresh);
  });
  return y;
}

Tensor concat_rows(std::span<const Tensor> parts) {
  expect(!parts.empty(), "concat_rows: no parts");
  int64_t rows = 0;
  bool needs_gradient = false;
  for (const Tensor part : parts) {
    expect_there("concat_rows", "a part", part);
    expect(part.cols() == parts[0].cols(), "concat_rows: a part has {} columns, the first {}", part.cols(),
           parts[0].cols());
    rows += part.rows();
    needs_gradient |= part.needs_gradient();
  }
  Tape& tape = parts[0].tape();
  const int64_t cols = parts[0].cols();
  Tensor y = tape.make(rows, cols, needs_gradient);
  int64_t first = 0;
  for (const Tensor part : parts) {
    copy_block({part.data(), cols}, {y.row(first), cols}, part.rows(), cols);
    first += part.rows();
  }
  const Tensor* kept = tape.keep<Tensor>(parts);
  tape.on_backward([=, count = static_cast<int64_t>(parts.size())] {
    int64_t at = 0;
    for (int64_t i = 0; i < count; at += kept[i++].size())
      add_gradient(kept[i].sink(), kept[i].size(), [g = y.gradient() + at](int64_t j) { return g[j]; });
  });
  return y;
}

Tensor gather_rows(Tensor x, std::span<const int64_t> rows) {
  expect_there("gather_rows", "x", x);
  const auto count = static_cast<int64_t>(rows.size());
  for (int64_t i = 0; i < count; ++i)
    expect(rows[i] >= 0 && rows[i] < x.rows(), "gather_rows: index {} is row {}, but there are {} rows", i, rows[i],
           x.rows());
  Tape& tape = x.tape();
  const int64_t cols = x.cols();
  Tensor y = tape.make_from(count, cols, x);
  const int64_t* from = tape.keep<int64_t>(rows);
  const ParameterStorage* packed = x.is_packed() ? &x.parameter()->value : nullptr;
  for_pieces(count, cols, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      if (packed)
        packed->row(from[i], cols, y.row(i));
      else
        std::copy_n(x.row(from[i]), cols, y.row(i));
  });
  tape.on_backward([=] {
    GradientSink d_x = x.sink();
    clear_if_fresh(d_x, x.size());
    const float* g = y.gradient();
    // A row may be requested many times: each thread takes some columns of all of them, in order.
    constexpr int64_t kColumns = 64;
    for_pieces((cols + kColumns - 1) / kColumns, count * kColumns, [&](int64_t begin, int64_t end) {
      const int64_t c0 = begin * kColumns, c1 = std::min(cols, end * kColumns);
      for (int64_t i = 0; i < count; ++i)
        for (int64_t c = c0; c < c1; ++c) d_x.data[from[i] * cols + c] += g[i * cols + c];
    });
  });
  return y;
}

Tensor repeat_rows(Tensor x, const Offsets& offsets) {
  expect_there("repeat_rows", "x", x);
  expect(offsets.count == x.rows(), "repeat_rows: {} rows for {} sequences", x.rows(), offsets.count);
  expect_offsets("repeat_rows", offsets, offsets.total());
  Tape& tape = x.tape();
  const int64_t cols = x.cols();
  Tensor y = tape.make_from(offsets.total(), cols, x);
  const int64_t cost = x.rows() > 0 ? y.size() / x.rows() + 1 : 1;
  for_pieces(x.rows(), cost, [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b)
      for (int64_t r = offsets.at[b]; r < offsets.at[b + 1]; ++r) std::copy_n(x.row(b), cols, y.row(r));
  });
  tape.on_backward([=] {  // d_x.row(b) = the sum of the gradients of its copies
    GradientSink d_x = x.sink();
    clear_if_fresh(d_x, x.size());
    const float* g = y.gradient();
    for_pieces(x.rows(), cost, [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b)
        for (int64_t r = offsets.at[b]; r < offsets.at[b + 1]; ++r)
          for (int64_t c = 0; c < cols; ++c) d_x.data[b * cols + c] += g[r * cols + c];
    });
  });
  return y;
}

Tensor make_cache(Tape& tape, int64_t rows, int64_t cols) { return tape.make_in_place(rows, cols); }

void write_rows(Tensor cache, Tensor rows, int64_t capacity, int64_t at) {
  expect_there("write_rows", "the cache", cache);
  expect_there("write_rows", "rows", rows);
  expect(at >= 0 && at < capacity, "write_rows: row {} is outside the capacity of {}", at, capacity);
  expect_shape("write_rows", "the cache", cache, rows.rows() * capacity, rows.cols());
  expect(cache.written_in_place(), "write_rows: the cache is a read-only tensor; make_cache() makes a writable one");
  const int64_t cols = rows.cols();
  const int64_t stride = capacity * cols;
  copy_block({rows.data(), cols}, {cache.data() + at * cols, stride}, rows.rows(), cols);
  cache.tape().on_backward_of(cache, [=] {
    // cache[place] = row:  d_row = d_cache[place], and what stood there before has no effect: d_cache[place] = 0
    const Block d_cache{const_cast<float*>(cache.gradient()) + at * cols, stride};
    if (const GradientSink d = rows.sink()) copy_block(d_cache, {d.data, cols}, rows.rows(), cols, d.fresh);
    for (int64_t b = 0; b < rows.rows(); ++b) std::fill_n(d_cache.data + b * stride, cols, 0.0f);
  });
}

}  // namespace heed
