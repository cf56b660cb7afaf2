#include "heed/kernels/score/divided_by_v.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace heed::kernels {
namespace {

constexpr int kRoomAbove = 10;     // the product of the t is below 2^116, and must stay below 2^126 with 1 / v
constexpr int kRoomBelow = 100;    // no product of t is below 1
constexpr int kNoExponent = -100;  // of a v that is 0 or nearly so, or no number

/// |v| is in [2^(e - 1), 2^e).
int exponent(float v) {
  int e = kNoExponent;
  if (std::isfinite(v) && v != 0.0f) std::frexp(v, &e);
  return std::max(e, kNoExponent);
}

/// The power of two that makes most of v larger than 1, and none of them 2^100.
float scale_of(const float* v, size_t dim) {
  int64_t exponents = 0, count = 0;
  int largest = kNoExponent;
  for (size_t i = 0; i < dim; ++i)
    if (const int e = exponent(v[i]); e > kNoExponent) exponents += e, count += 1, largest = std::max(largest, e);
  const int usual = count ? static_cast<int>(exponents / count) : 0;
  return std::ldexp(1.0f, std::min(3 - usual, -kNoExponent - largest));
}

/// The product of any of the eight s = t / v has room, above and below: 2^(-e) < 1 / |v| <= 2^(1 - e).
bool has_room(const float* scaled) {
  int above = 0, below = 0;
  for (int i = 0; i < kTanhDims; ++i) {
    const int e = exponent(scaled[i]);
    above += std::max(1 - e, 0), below += std::max(e, 0);
  }
  return above <= kRoomAbove && below <= kRoomBelow;
}

}  // namespace

DividedByV::DividedByV(const float* v, size_t dim, size_t whole, CallArena& arena)
    : scale(scale_of(v, dim)),
      scaled(arena.array<float>(whole)),
      inverse(arena.array<float>(whole)),
      possible(arena.array<bool>(whole / kTanhDims)) {
  double all = 0.0;
  for (size_t i = 0; i < dim; ++i) {
    all += v[i];
    scaled[i] = scale * v[i];
    if (exponent(scaled[i]) > kNoExponent) inverse[i] = 1.0f / scaled[i];
  }
  sum = static_cast<float>(all);
  for (size_t first = 0; first < whole; first += kTanhDims) possible[first / kTanhDims] = has_room(scaled + first);
}

}  // namespace heed::kernels
