// y_a = x_a cos(p theta_i) - x_b sin(p theta_i)
// y_b = x_a sin(p theta_i) + x_b cos(p theta_i);   the backward rotates the other way.
// The columns a and b of pair i are 2i and 2i + 1, or i and i + the number of pairs.
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

Turns make_turns(Tape& tape, const int64_t* positions, int64_t rows, int64_t pairs, double base) {
  if (rows == 0) return {nullptr, 0, pairs};
  const auto [first, last] = std::minmax_element(positions, positions + rows);
  expect(*first >= 0, "rotate: the position {} is below 0", *first);
  Turn* turns = tape.keep<Turn>((*last - *first + 1) * pairs);
  for (int64_t i = 0; i < pairs; ++i) {
    const double theta = exact::power(base, -static_cast<double>(i) / static_cast<double>(pairs));
    for (int64_t p = *first; p <= *last; ++p) {
      const double angle = static_cast<double>(p) * theta;
      const auto [sin, cos] = exact::sin_cos(angle);
      turns[(p - *first) * pairs + i] = {static_cast<float>(cos), static_cast<float>(sin)};
    }
  }
  return {turns, *first, pairs};
}

/// Where the columns of a pair are: the first at i * step, the second `apart` from it.
struct Pairs {
  int64_t width, step, apart;

  Pairs(int64_t columns, bool halves) : width(columns), step(halves ? 1 : 2), apart(halves ? columns / 2 : 1) {}
};

/// out (+)= x rotated, `direction` 1 or -1. One head of one row.
template <bool kAdd>
void turn(const Turn* turns, const Pairs& pairs, float direction, const float* x, float* out) {
  const auto leave = [out](int64_t c, float value) { out[c] = kAdd ? out[c] + value : value; };
  for (int64_t i = 0; i < pairs.width / 2; ++i) {
    const int64_t first = i * pairs.step, second = first + pairs.apart;
    const float c = turns[i].cosine, s = direction * turns[i].sine;
    const float a = x[first], b = x[second];
    leave(first, a * c - b * s);
    leave(second, a * s + b * c);
  }
  if (pairs.width % 2 != 0) leave(pairs.width - 1, x[pairs.width - 1]);
}

}  // namespace

Tensor rotate(Tensor x, const int64_t* positions, const RotaryOptions& options) {
  const int64_t heads = options.heads;
  expect_there("rotate", "x", x);
  expect(heads > 0 && x.cols() % heads == 0, "rotate: {} columns cannot be split into {} heads", x.cols(), heads);
  Tape& tape = x.tape();
  const int64_t rows = x.rows(), cols = x.cols(), width = cols / heads;
  expect(options.base > 1.0, "rotate: the base must be above 1, not {}", options.base);
  const Pairs pairs(width, options.halves);
  const Turns turns = make_turns(tape, positions, rows, width / 2, options.base);
  const auto each_head = [=](const auto& visit) {
    for_pieces(rows, cols, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r)
        for (int64_t h = 0; h < heads; ++h) visit(turns.of(positions[r]), r * cols + h * width);
    });
  };
  Tensor y = tape.make_from(rows, cols, x);
  each_head([&](const Turn* t, int64_t at) { turn<false>(t, pairs, 1.0f, x.data() + at, y.data() + at); });
  tape.on_backward([=] {
    const GradientSink sink = x.sink();
    const float* g = y.gradient();
    if (!sink) return;
    each_head([&](const Turn* t, int64_t at) {
      if (sink.fresh)
        turn<false>(t, pairs, -1.0f, g + at, sink.data + at);
      else
        turn<true>(t, pairs, -1.0f, g + at, sink.data + at);
    });
  });
  return y;
}

}  // namespace heed
