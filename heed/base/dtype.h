// The types that numbers are stored in, and the way from each to float32 and back. All computing is in float32; the
// others are for files and for weights in memory (tensor/format/).
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "heed/base/choice.h"

namespace heed {

enum class Dtype { f64, f32, f16, bf16, i8 };

/// Their names, as options have them.
inline constexpr Choice<Dtype> kDtypes[] = {
    {"float64", Dtype::f64},   {"float32", Dtype::f32}, {"float16", Dtype::f16},
    {"bfloat16", Dtype::bf16}, {"int8", Dtype::i8},  // integers alone; with a scale for several of them: base/int8.h
};

constexpr size_t bytes_of(Dtype type) {
  return type == Dtype::f64 ? 8 : type == Dtype::f32 ? 4 : type == Dtype::i8 ? 1 : 2;
}
const char* name_of(Dtype type);  // "float32"

// Single numbers, by their bits. To float32: exact, NaN with its bits. From float32: rounded to the nearest, a tie to
// the even one; too large a number becomes infinite.

/// bfloat16: the upper half of a float32. 8 bits of exponent, 7 of fraction.
inline float float_of_bf16(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

inline uint16_t bf16_of(float number) {
  const auto bits = std::bit_cast<uint32_t>(number);
  const uint32_t upper = bits >> 16;
  constexpr uint32_t kFraction = 0x7F, kQuiet = 0x40, kInfinity = 0x7F800000;
  if ((bits & 0x7FFFFFFF) > kInfinity)  // NaN, which must not become infinite when its lower bits go
    return static_cast<uint16_t>((upper & kFraction) != 0 ? upper : upper | kQuiet);
  return static_cast<uint16_t>((bits + 0x7FFF + (upper & 1)) >> 16);
}

/// float16: 5 bits of exponent, 10 of fraction. At most 65504; below 2^-14 in steps of 2^-24.
float float_of_f16(uint16_t bits);
uint16_t f16_of(float number);

// Many numbers, of any type, at any address, little-endian. The result is how many of them float32 (or `to`) can hold:
// all, or the index of the first that is finite and became infinite.

/// `bytes`: as many as numbers.size() numbers of the type have.
size_t read_numbers(Dtype from, std::span<const std::byte> bytes, std::span<float> numbers);
size_t write_numbers(Dtype to, std::span<const float> numbers, std::span<std::byte> bytes);

}  // namespace heed
