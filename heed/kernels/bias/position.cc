// Biases that depend on the positions of query and key: ALiBi and the relative-position table.
// Plain loops: compiled once per instruction set, they become vector code.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/bias/position.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#include <algorithm>
#include <cstdlib>

#include "heed/kernels/bias/bias.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

/// j - position(i) of the tile's first pair; it decreases by one per lane and increases by one per key.
HWY_INLINE int64_t FirstDistance(const Tile& t, const Sequence& s) { return t.key - (t.query + s.offset); }

// bias = -slope_h |j - position(i)|,   d_slope_h = -sum d_score |j - position(i)|
class Alibi final : public BiasKernel {
 public:
  Alibi(const Problem& p, float* d_slopes) : slopes_(p.bias.alibi_slopes), d_slopes_(d_slopes), heads_(p.shape.heads) {}

  void add(const Tile& t, const Sequence& s) const override {
    const float slope = slopes_[t.head];
    const int first = static_cast<int>(FirstDistance(t, s));
    for (int r = 0; r < t.keys; ++r) {
      float* row = t.at + r * t.stride;
      for (int c = 0; c < t.queries; ++c) row[c] -= slope * static_cast<float>(std::abs(first + r - c));
    }
  }

  size_t gradient_floats() const override { return d_slopes_ ? 1 : 0; }

  void backward(const Tile& t, const Sequence& s, float* sums) const override {
    if (!d_slopes_) return;
    const int first = static_cast<int>(FirstDistance(t, s));
    double sum = 0.0;
    for (int r = 0; r < t.keys; ++r) {
      const float* row = t.at + r * t.stride;
      for (int c = 0; c < t.queries; ++c) sum -= static_cast<double>(row[c]) * std::abs(first + r - c);
    }
    sums[0] += static_cast<float>(sum);
  }

  void zero_gradients() const override {
    if (d_slopes_) std::fill_n(d_slopes_, heads_, 0.0f);
  }
  void add_gradients(const float* sums, int64_t head) const override {
    if (d_slopes_) d_slopes_[head] += sums[0];
  }

 private:
  const float* slopes_;
  float* d_slopes_;
  int64_t heads_;
};

// bias = table[clamp(j - position(i), -reach, reach) + reach]
class Relative final : public BiasKernel {
 public:
  Relative(const Problem& p, float* d_table)
      : table_(p.bias.relative),
        head_stride_(p.bias.relative_head_stride),
        reach_(p.bias.relative_reach),
        heads_(p.shape.heads),
        d_table_(d_table) {}

  void add(const Tile& t, const Sequence& s) const override {
    const float* table = table_ + t.head * head_stride_;
    const int64_t first = FirstDistance(t, s);
    for (int r = 0; r < t.keys; ++r) {
      float* row = t.at + r * t.stride;
      for (int c = 0; c < t.queries; ++c) row[c] += table[std::clamp(first + r - c, -reach_, reach_) + reach_];
    }
  }

  size_t gradient_floats() const override { return d_table_ ? static_cast<size_t>(2 * reach_ + 1) : 0; }

  void backward(const Tile& t, const Sequence& s, float* sums) const override {
    if (!d_table_) return;
    const int64_t first = FirstDistance(t, s);
    for (int r = 0; r < t.keys; ++r) {
      const float* row = t.at + r * t.stride;
      for (int c = 0; c < t.queries; ++c) sums[std::clamp(first + r - c, -reach_, reach_) + reach_] += row[c];
    }
  }

  void zero_gradients() const override {
    for (int64_t h = 0; d_table_ && h < (head_stride_ ? heads_ : 1); ++h)
      std::fill_n(d_table_ + h * head_stride_, 2 * reach_ + 1, 0.0f);
  }
  void add_gradients(const float* sums, int64_t head) const override {
    if (!d_table_) return;
    float* target = d_table_ + head * head_stride_;
    for (int64_t i = 0; i < 2 * reach_ + 1; ++i) target[i] += sums[i];
  }

 private:
  const float* table_;
  int64_t head_stride_, reach_, heads_;
  float* d_table_;
};

ArenaPtr<BiasKernel> MakeAlibi(const Problem& p, float* d, CallArena& arena) { return arena.make<Alibi>(p, d); }
ArenaPtr<BiasKernel> MakeRelative(const Problem& p, float* d, CallArena& arena) { return arena.make<Relative>(p, d); }

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {
HWY_EXPORT(MakeAlibi);
HWY_EXPORT(MakeRelative);
ArenaPtr<BiasKernel> make_alibi(const Problem& p, float* d, CallArena& arena) {
  return HWY_DYNAMIC_DISPATCH(MakeAlibi)(p, d, arena);
}
ArenaPtr<BiasKernel> make_relative(const Problem& p, float* d, CallArena& arena) {
  return HWY_DYNAMIC_DISPATCH(MakeRelative)(p, d, arena);
}
}  // namespace heed::kernels
#endif
