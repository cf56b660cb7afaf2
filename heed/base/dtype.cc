#include "heed/base/dtype.h"

#include <cmath>
#include <cstring>

#include "heed/base/int8.h"

namespace heed {

static_assert(std::endian::native == std::endian::little, "files are little-endian, and so must this machine be");

const char* name_of(Dtype type) {
  for (const auto& choice : kDtypes)
    if (choice.value == type) return choice.word;
  return "";
}

float float_of_f16(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16, exponent = bits >> 10 & 0x1F,
                 fraction = bits & 0x3FF;
  if (exponent == 0x1F) return std::bit_cast<float>(sign | 0x7F800000 | fraction << 13);  // infinite, or NaN
  if (exponent > 0) return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
  const float size = static_cast<float>(fraction) * 0x1p-24f;
  return sign != 0 ? -size : size;
}

uint16_t f16_of(float number) {
  const auto bits = std::bit_cast<uint32_t>(number);
  const uint32_t sign = bits >> 16 & 0x8000, size = bits & 0x7FFFFFFF;
  const auto with_sign = [sign](uint32_t rest) { return static_cast<uint16_t>(sign | rest); };
  constexpr uint32_t kInfinity = 0x7C00, kQuiet = 0x200;
  if (size > 0x7F800000) {  // NaN
    const uint32_t fraction = size >> 13 & 0x3FF;
    return with_sign(kInfinity | (fraction != 0 ? fraction : kQuiet));
  }
  if (size >= 0x47800000) return with_sign(kInfinity);  // 2^16 and more; from 65520 the rounding below gets there too
  if (size >= 0x38800000) {                             // 2^-14: the smallest with a whole fraction
    const uint32_t moved = size - (112u << 23);
    return with_sign((moved + 0xFFF + (moved >> 13 & 1)) >> 13);
  }
  // n * 2^-24, by whole numbers: the fraction with its leading bit is 2^(exponent - 126) of these steps.
  const uint32_t shift = 126 - (size >> 23);
  if (shift > 24) return with_sign(0);
  const uint32_t fraction = (size & 0x7FFFFF) | 0x800000;
  const uint32_t steps = fraction >> shift, rest = fraction & ((1u << shift) - 1), half = 1u << (shift - 1);
  return with_sign(steps + (rest > half || (rest == half && (steps & 1) != 0) ? 1 : 0));
}

namespace {

/// to[i] = convert(from[i]), where the result is infinite only if the number was.
template <class From, class To, class Convert>
size_t convert_all(const std::byte* from, std::byte* to, size_t count, const Convert& convert) {
  size_t fit = count;
  for (size_t i = 0; i < count; ++i) {
    From number;
    std::memcpy(&number, from + i * sizeof(From), sizeof(From));
    const auto [result, fits] = convert(number);
    std::memcpy(to + i * sizeof(To), &result, sizeof(To));
    if (!fits && fit == count) fit = i;
  }
  return fit;
}

template <class To>
struct Converted {
  To result;
  bool fits = true;
};

}  // namespace

size_t read_numbers(Dtype from, std::span<const std::byte> bytes, std::span<float> numbers) {
  auto* to = reinterpret_cast<std::byte*>(numbers.data());
  const size_t count = numbers.size();
  switch (from) {
    case Dtype::f32:
      if (count > 0) std::memcpy(to, bytes.data(), numbers.size_bytes());
      return count;
    case Dtype::f64:
      return convert_all<double, float>(bytes.data(), to, count, [](double x) {
        const auto rounded = static_cast<float>(x);
        return Converted<float>{rounded, !std::isinf(rounded) || std::isinf(x)};
      });
    case Dtype::f16:
      return convert_all<uint16_t, float>(bytes.data(), to, count,
                                          [](uint16_t x) { return Converted<float>{float_of_f16(x)}; });
    case Dtype::bf16:
      return convert_all<uint16_t, float>(bytes.data(), to, count,
                                          [](uint16_t x) { return Converted<float>{float_of_bf16(x)}; });
    case Dtype::i8:
      return convert_all<int8_t, float>(bytes.data(), to, count,
                                        [](int8_t x) { return Converted<float>{static_cast<float>(x)}; });
  }
  return 0;
}

size_t write_numbers(Dtype to, std::span<const float> numbers, std::span<std::byte> bytes) {
  const auto* from = reinterpret_cast<const std::byte*>(numbers.data());
  const size_t count = numbers.size();
  switch (to) {
    case Dtype::f32:
      if (count > 0) std::memcpy(bytes.data(), from, numbers.size_bytes());
      return count;
    case Dtype::f64:
      return convert_all<float, double>(from, bytes.data(), count,
                                        [](float x) { return Converted<double>{static_cast<double>(x)}; });
    case Dtype::f16:
      return convert_all<float, uint16_t>(from, bytes.data(), count, [](float x) {
        const uint16_t bits = f16_of(x);
        return Converted<uint16_t>{bits, (bits & 0x7FFF) != 0x7C00 || std::isinf(x)};
      });
    case Dtype::bf16:
      return convert_all<float, uint16_t>(from, bytes.data(), count, [](float x) {
        const uint16_t bits = bf16_of(x);
        return Converted<uint16_t>{bits, (bits & 0x7FFF) != 0x7F80 || std::isinf(x)};
      });
    case Dtype::i8:
      return convert_all<float, int8_t>(from, bytes.data(), count, [](float x) {
        const bool fits = x >= -128.5f && x < 127.5f;  // not if it is NaN
        return Converted<int8_t>{static_cast<int8_t>(fits ? int8_of(x, 1.0f) : 0), fits};
      });
  }
  return 0;
}

}  // namespace heed
