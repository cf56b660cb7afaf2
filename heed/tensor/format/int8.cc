// int8: integers of 8 bits with a scale per column (base/int8.h), a quarter of the memory. A product rounds each row to
// such integers too, with a scale of its own, and adds exact products of integers: a row's bits depend on nothing else,
// and are the same on every instruction set.
//
//   y = (sum of row_integer * integer) * (row_scale * scale) + bias
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/tensor/format/int8.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/int8.h"
#include "heed/tensor/format/all.h"
#include "heed/tensor/format/int8_view.h"
#include "heed/tensor/parallel.h"
#include "heed/tensor/product-inl.h"

// The instructions of VNNI, which Highway's sets AVX2 and AVX3 do not count on: compiled beside, and asked for.
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
#define HEED_HAS_QUADS 1
#if HWY_TARGET == HWY_AVX2
#define HEED_QUADS_TARGET ",avxvnni"
#else
#define HEED_QUADS_TARGET ",avx512vnni"
#endif
#else
#define HEED_HAS_QUADS 0
#endif
#define HEED_PLAIN_INT8 (!HWY_ARCH_X86 || HWY_TARGET == HWY_SCALAR)

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {
/// How far few rows look ahead in a weight, which comes from a far cache or from memory.
inline constexpr size_t kQuadsAhead = 16;
#if HEED_PLAIN_INT8
namespace plain {

using RowNumber = int16_t;

inline void MultiplyQuads(const Int8View& weight, const Int8Rows& x, const RowProduct& product,
                          const ProductTile& tile) {
  for (int64_t row = tile.row; row < tile.row_end; ++row)
    for (int64_t panel = tile.panel; panel < tile.panel_end; ++panel) {
      const auto* numbers = static_cast<const RowNumber*>(x.numbers) + (row - x.first) * x.stride;
      const float row_scale = x.scales[row - x.first];
      const int8_t* w = weight.panel(panel);
      int32_t dots[kPanel] = {};
      for (int64_t quad = 0; quad < weight.quads; ++quad, numbers += 4, w += 4 * kPanel)
        for (int64_t c = 0; c < kPanel; ++c)
          for (int64_t i = 0; i < 4; ++i) dots[c] += int32_t{numbers[i]} * w[4 * c + i];
      const int64_t first = panel * kPanel;
      float* y = product.y + row * weight.out;
      for (int64_t col = first; col < std::min(weight.out, first + kPanel); ++col) {
        const float sum = static_cast<float>(dots[col - first]) * (row_scale * weight.scales[col]);
        y[col] = product.add ? y[col] + sum : product.bias ? product.bias[col] + sum : sum;
      }
    }
}

inline void RoundRows(const float* x, int64_t in, Int8Rows to, int64_t count) {
  for (int64_t r = 0; r < count; ++r, x += in) {
    auto* numbers = static_cast<RowNumber*>(to.numbers) + r * to.stride;
    uint32_t largest = 0;
    for (int64_t i = 0; i < in; ++i) largest = std::max(largest, size_bits(x[i]));
    const Int8Scale s = int8_scale(largest);
    to.scales[r] = s.scale;
    std::fill_n(numbers, to.stride, RowNumber{0});
    if (s.inverse != 0)
      for (int64_t i = 0; i < in; ++i) numbers[i] = static_cast<RowNumber>(int8_of(x[i], s.inverse));
  }
}

}  // namespace plain
#else
namespace pairs {
#define HEED_QUADS 0
#include "heed/tensor/format/int8_blocks-inl.h"
#undef HEED_QUADS
}  // namespace pairs
#endif
}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HEED_HAS_QUADS
HWY_PUSH_ATTRIBUTES(HWY_TARGET_STR HEED_QUADS_TARGET)
namespace heed::HWY_NAMESPACE::quads {
#define HEED_QUADS 1
#include "heed/tensor/format/int8_blocks-inl.h"
#undef HEED_QUADS
}  // namespace heed::HWY_NAMESPACE::quads
HWY_POP_ATTRIBUTES
#endif

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

/// Whether this instruction set has them, and the CPU too. AVX2 alone has them where there is no AVX-512: HEED_ISA=avx2
/// on a larger CPU means AVX2 and no more.
bool HasQuads(bool forced) {
#if HEED_HAS_QUADS && HWY_TARGET == HWY_AVX2
  // Clang 14 does not know it by name. Asked once: in a virtual machine the answer takes microseconds.
  static const bool there = [] {
    const auto features = [](uint32_t leaf) {  // EAX of CPUID's page 7, which every CPU with AVX2 has
      uint32_t a = 7, b = 0, c = leaf, d = 0;
      asm volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
      return a;
    };
    constexpr uint32_t kAvxVnni = 1 << 4;
    return features(0) >= 1 && (features(1) & kAvxVnni) != 0;
  }();
  return there && (forced || __builtin_cpu_supports("avx512f") == 0);
#elif HEED_HAS_QUADS
  (void)forced;
  return __builtin_cpu_supports("avx512vnni") != 0;
#else
  (void)forced;
  return false;
#endif
}

void RoundInt8(const float* x, int64_t in, const Int8Rows& to, int64_t count, bool with_quads) {
#if HEED_PLAIN_INT8
  (void)with_quads;
  plain::RoundRows(x, in, to, count);
#else
#if HEED_HAS_QUADS
  if (with_quads) return quads::RoundRows(x, in, to, count);
#endif
  (void)with_quads;
  pairs::RoundRows(x, in, to, count);
#endif
}

void MultiplyInt8(const Int8View& weight, const Int8Rows& x, const RowProduct& product, const ProductTile& tile,
                  bool with_quads) {
#if HEED_PLAIN_INT8
  (void)with_quads;
  plain::MultiplyQuads(weight, x, product, tile);
#else
#if HEED_HAS_QUADS
  if (with_quads) return quads::MultiplyQuads(weight, x, product, tile);
#endif
  (void)with_quads;
  pairs::MultiplyQuads(weight, x, product, tile);
#endif
}

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#undef HEED_HAS_QUADS
#undef HEED_QUADS_TARGET
#undef HEED_PLAIN_INT8

#if HWY_ONCE
namespace heed {
namespace {

HWY_EXPORT(HasQuads);
HWY_EXPORT(RoundInt8);
HWY_EXPORT(MultiplyInt8);

std::atomic<QuadDots> g_quad_dots{QuadDots::of_cpu};

/// The largest weight: its sums are integers of 32 bits.
constexpr int64_t kMostInputs = int64_t{1} << 17;
/// Rows that are rounded before they are multiplied: bytes for each thread, which stay in the L2 cache.
constexpr int64_t kRowBytes = 256 * 1024;

int64_t padded(int64_t count, int64_t to) { return (count + to - 1) / to * to; }

/// Memory that a thread keeps for the rows of its products.
struct RowMemory {
  std::vector<int16_t> numbers;
  std::vector<float> scales;
};

class Int8Weight final : public PackedWeight {
 public:
  explicit Int8Weight(const WeightView& weight)
      : PackedWeight(weight.in, weight.out), quads_(padded(weight.in, 4) / 4) {
    expect(weight.in <= kMostInputs,
           "int8: a weight [out, in] can have at most {} inputs, got [{}, {}]: bfloat16 or float32 can have more",
           kMostInputs, weight.out, weight.in);
    const auto cols = static_cast<size_t>(panels() * kPanel);
    data_.reset(static_cast<int8_t*>(::operator new[](data_bytes(), kAlignment)));
    scales_.resize(cols);
    starts_.resize(cols);
    Int8Weight::copy(weight);
  }

  const WeightFormat& format() const override { return int8_weights; }
  size_t bytes() const override {
    return data_bytes() + scales_.size() * sizeof(float) + starts_.size() * sizeof(int32_t);
  }

  void copy(const WeightView& w) override {
    for_pieces(panels(), in() * kPanel, [&](int64_t begin, int64_t end) {
      for (int64_t p = begin; p < end; ++p) pack_panel(w, p);
    });
  }

  void row(WeightOrder order, int64_t n, float* to) const override {
    const Int8View all = view();
    if (order == WeightOrder::out_in) {
      const int8_t* from = all.panel(n / kPanel) + n % kPanel * 4;
      const float scale = scales_[static_cast<size_t>(n)];
      for (int64_t i = 0; i < in(); ++i) to[i] = scale * static_cast<float>(from[i / 4 * 4 * kPanel + i % 4]);
      return;
    }
    const int64_t at = n / 4 * 4 * kPanel + n % 4;
    for (int64_t o = 0; o < out(); ++o)
      to[o] = scales_[static_cast<size_t>(o)] * static_cast<float>(all.panel(o / kPanel)[at + o % kPanel * 4]);
  }

  void multiply(const RowProduct& product) const override {
    static thread_local RowMemory memory;
    const bool with_quads = quad_dots();
    const int64_t stride = padded(std::max<int64_t>(in(), 1), 4);
    const int64_t number_bytes = with_quads ? 1 : 2;
    const int64_t group = std::max<int64_t>(
        kRowStep, kRowBytes * kernels::most_threads() / (number_bytes * stride) / kRowStep * kRowStep);
    const auto most = static_cast<size_t>(std::min(group, product.rows));
    memory.numbers.resize(std::max(memory.numbers.size(), most * static_cast<size_t>(stride)));
    memory.scales.resize(std::max(memory.scales.size(), most));
    for (int64_t first = 0; first < product.rows; first += group) {
      const int64_t count = std::min(group, product.rows - first);
      const Int8Rows rows{memory.numbers.data(), memory.scales.data(), stride};
      for_pieces(count, stride, [&](int64_t begin, int64_t end) {
        Int8Rows some = rows;
        some.numbers = static_cast<std::byte*>(rows.numbers) + begin * stride * number_bytes;
        some.scales += begin;
        HWY_DYNAMIC_DISPATCH(RoundInt8)(product.x + (first + begin) * in(), in(), some, end - begin, with_quads);
      });
      const RowProduct part{count, nullptr, product.bias, product.y + first * out(), product.add};
      for_each_tile(*this, part, [&](const ProductTile& tile) {
        HWY_DYNAMIC_DISPATCH(MultiplyInt8)(view(), rows, part, tile, with_quads);
      });
    }
  }

 private:
  static constexpr auto kAlignment = std::align_val_t{128};
  static constexpr int64_t kRowStep = 12;
  struct Free {
    void operator()(int8_t* data) const { ::operator delete[](data, kAlignment); }
  };

  int64_t panels() const { return (out() + kPanel - 1) / kPanel; }
  size_t data_bytes() const { return static_cast<size_t>(panels() * quads_ * 4 * kPanel); }
  Int8View view() const { return {data_.get(), scales_.data(), starts_.data(), out(), quads_}; }

  void pack_panel(const WeightView& w, int64_t p) {
    const bool out_in = w.order == WeightOrder::out_in;
    int8_t* panel = data_.get() + p * quads_ * 4 * kPanel;
    std::fill_n(panel, quads_ * 4 * kPanel, int8_t{0});
    for (int64_t c = 0; c < kPanel; ++c) {
      const int64_t o = p * kPanel + c;
      int32_t sum = 0;
      float scale = 0;
      if (o < w.out)
        scale = round_to_int8(w.data + (out_in ? o * w.in : o), w.in, out_in ? 1 : w.out, [&](int64_t i, int8_t n) {
          panel[(i / 4 * kPanel + c) * 4 + i % 4] = n;
          sum += n;
        });
      scales_[static_cast<size_t>(o)] = scale;
      starts_[static_cast<size_t>(o)] = -128 * sum;
    }
  }

  int64_t quads_;
  std::unique_ptr<int8_t[], Free> data_;
  std::vector<float> scales_;
  std::vector<int32_t> starts_;
};

}  // namespace

void use_quad_dots(QuadDots which) { g_quad_dots = which; }
bool quad_dots() {
  const QuadDots which = g_quad_dots;
  return which != QuadDots::never && HWY_DYNAMIC_DISPATCH(HasQuads)(which == QuadDots::always);
}

const WeightFormat int8_weights = {
    .name = "int8",
    .meaning = "integers of 8 bits with a scale per output: a quarter of the memory; rows are rounded too",
    .exact = false,
    .pack = [](const WeightView& w) -> std::unique_ptr<PackedWeight> { return std::make_unique<Int8Weight>(w); }};

}  // namespace heed
#endif
