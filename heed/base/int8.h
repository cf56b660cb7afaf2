// Numbers as integers of 8 bits with a common scale: number = scale * integer, symmetric, in [-127, 127].
//
// The same bits on every machine, and the same again if it is done twice: a scale has 16 bits of fraction, so that
// scale * integer is exactly a float32; the largest number becomes 127 or -127; a division is exact to the last bit, as
// IEEE 754 says, and a tie goes to the even integer. Nothing here depends on the order of the numbers.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>

namespace heed {

inline constexpr int32_t kMostInt8 = 127;

/// float32 as its bits without the sign: larger for larger sizes, and above kInfinityBits for NaN. So the largest size
/// of many numbers is found by integers, in any order.
inline constexpr uint32_t kInfinityBits = 0x7F800000;
inline uint32_t size_bits(float number) { return std::bit_cast<uint32_t>(number) & 0x7FFFFFFF; }

/// number * inverse, rounded, is the integer.
struct Int8Scale {
  float scale = 0, inverse = 0;
};

/// `largest`: size_bits() of the largest number. Below 2^-100 all become 0. If one is infinite or NaN there are no such
/// integers: the scale is NaN, and all are 0.
inline Int8Scale int8_scale(uint32_t largest) {
  constexpr uint32_t kSmallest = 0x0D800000;      // 2^-100: far from where scales would lose bits
  constexpr uint32_t kSixteenBits = 0xFFFFFF00u;  // of fraction, counting the leading one
  if (largest >= kInfinityBits) return {std::numeric_limits<float>::quiet_NaN(), 0.0f};
  if (largest < kSmallest) return {};
  const float exact = std::bit_cast<float>(largest) / static_cast<float>(kMostInt8);
  const auto scale = std::bit_cast<float>(std::bit_cast<uint32_t>(exact) & kSixteenBits);
  return {scale, 1.0f / scale};
}

/// Added to a number below 2^22, it leaves the nearest integer in the lowest bits: a tie goes to the even one.
inline constexpr float kRoundBySum = 0x1.8p23f;

inline int32_t int8_of(float number, float inverse) {
  const float sum = number * inverse + kRoundBySum;
  return std::bit_cast<int32_t>(sum) - std::bit_cast<int32_t>(kRoundBySum);
}

/// store(i, integer) for each of `count` numbers that stand `stride` apart; the result is their scale.
template <class Store>
float round_to_int8(const float* numbers, int64_t count, int64_t stride, const Store& store) {
  uint32_t largest = 0;
  for (int64_t i = 0; i < count; ++i) largest = std::max(largest, size_bits(numbers[i * stride]));
  const Int8Scale s = int8_scale(largest);
  // Without a scale zero is written, not zero times what may be infinite.
  for (int64_t i = 0; i < count; ++i)
    store(i, static_cast<int8_t>(s.inverse == 0 ? 0 : int8_of(numbers[i * stride], s.inverse)));
  return s.scale;
}

}  // namespace heed
