// y_2i   = x_2i cos(p theta_i) - x_2i+1 sin(p theta_i)
// y_2i+1 = x_2i sin(p theta_i) + x_2i+1 cos(p theta_i);   the backward rotates the other way.
#include "heed/tensor/op/rotary.h"

#include <algorithm>

#include "heed/kernels/exact_math.h"
#include "heed/tensor/gradient.h"
#include "heed/tensor/op/check.h"
#include "heed/tensor/tape.h"

namespace heed {

namespace {

struct Turn {
  float cosine, sine;
};

/// A row of rotations for every position from the first to the last: rows of a batch share them, and a single search
/// step needs one row only.
struct Turns {
  const Turn* at;  // [last - first + 1, pairs]
  int64_t first, pairs;

  const Turn* of(int64_t position) const { return at + (position - first) * pairs; }
};

Turns make_turns(Tape& tape, const int64_t* positions, int64_t rows, int64_t pairs) {
  if (rows == 0) return {nullptr, 0, pairs};
  const auto [first, last] = std::minmax_element(positions, positions + rows);
  expect(*first >= 0, "rotate: the position {} is below 0", *first);
  Turn* turns = tape.keep<Turn>((*last - *first + 1) * pairs);
  for (int64_t i = 0; i < pairs; ++i) {
    const double theta = exact::power(10000.0, -static_cast<double>(i) / static_cast<double>(pairs));
    for (int64_t p = *first; p <= *last; ++p) {
      const double angle = static_cast<double>(p) * theta;
      const auto [sin, cos] = exact::sin_cos(angle);
      turns[(p - *first) * pairs + i] = {static_cast<float>(cos), static_cast<float>(sin)};
    }
  }
  return {turns, *first, pairs};
}

/// out (+)= x rotated, `direction` 1 or -1. One head of one row.
template <bool kAdd>
void turn(const Turn* turns, int64_t width, float direction, const float* x, float* out) {
  const auto leave = [out](int64_t c, float value) { out[c] = kAdd ? out[c] + value : value; };
  for (int64_t i = 0; i < width / 2; ++i) {
    const float c = turns[i].cosine, s = direction * turns[i].sine;
    const float a = x[2 * i], b = x[2 * i + 1];
    leave(2 * i, a * c - b * s);
    leave(2 * i + 1, a * s + b * c);
  }
  if (width % 2 != 0) leave(width - 1, x[width - 1]);
}

}  // namespace

Tensor rotate(Tensor x, const int64_t* positions, int64_t heads) {
  expect_there("rotate", "x", x);
  expect(heads > 0 && x.cols() % heads == 0, "rotate: {} columns cannot be split into {} heads", x.cols(), heads);
  Tape& tape = x.tape();
  const int64_t rows = x.rows(), cols = x.cols(), width = cols / heads;
  const Turns turns = make_turns(tape, positions, rows, width / 2);
  const auto each_head = [=](const auto& visit) {
    for_pieces(rows, cols, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r)
        for (int64_t h = 0; h < heads; ++h) visit(turns.of(positions[r]), r * cols + h * width);
    });
  };
  Tensor y = tape.make_from(rows, cols, x);
  each_head([&](const Turn* t, int64_t at) { turn<false>(t, width, 1.0f, x.data() + at, y.data() + at); });
  tape.on_backward([=] {
    const GradientSink sink = x.sink();
    const float* g = y.gradient();
    if (!sink) return;
    each_head([&](const Turn* t, int64_t at) {
      if (sink.fresh)
        turn<false>(t, width, -1.0f, g + at, sink.data + at);
      else
        turn<true>(t, width, -1.0f, g + at, sink.data + at);
    });
  });
  return y;
}

}  // namespace heed
