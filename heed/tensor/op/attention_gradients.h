// Where the kernels put the gradients of one call of attention().
#pragma once

#include <algorithm>
#include <cstdint>

#include "heed/kernels/attention.h"
#include "heed/tensor/op/attention.h"
#include "heed/tensor/tape.h"

namespace heed {

/// How the heads and sequences of one operand are laid out in memory.
struct HeadLayout {
  int64_t heads;
  int64_t rows;  // of one sequence; not used for packed sequences
  bool stacked;

  template <class T>
  kernels::Strided<T> view(T* data, const Slice& s) const {
    const int64_t stride = s.tensor.cols();
    if (stacked) return {data + s.first, heads * rows * stride, rows * stride, stride, 1};
    return {data + s.first, rows * stride, s.width / std::max<int64_t>(heads, 1), stride, 1};
  }
};

/// The kernels overwrite gradients. If a tensor already has one, or another slice of it was written by this call, the
/// new gradient goes to separate memory and is added.
class SliceGradients {
 public:
  explicit SliceGradients(Tape& tape) : tape_(tape) {}

  kernels::View take(const Slice& s, const HeadLayout& layout) {
    if (!s.tensor.needs_gradient()) return {};
    const GradientSink sink = s.tensor.sink();
    if (sink.fresh && s.width < s.tensor.cols()) std::fill_n(sink.data, s.tensor.size(), 0.0f);
    if (!sink.fresh && !written_here(s, sink.data)) {
      float* apart = tape_.arena().take_array<float>(s.tensor.size());
      pending_[pending_count_++] = {s, sink.data, apart};
      return layout.view(apart, s);
    }
    ours_[ours_count_++] = {s, sink.data};
    return layout.view(sink.data, s);
  }

  void finish() {
    for (int i = 0; i < pending_count_; ++i) {
      const Pending& p = pending_[i];
      for (int64_t r = 0; r < p.slice.tensor.rows(); ++r) {
        const int64_t at = r * p.slice.tensor.cols() + p.slice.first;
        for (int64_t c = 0; c < p.slice.width; ++c) p.gradient[at + c] += p.apart[at + c];
      }
      tape_.arena().give(p.apart);
    }
  }

 private:
  struct Pending {
    Slice slice;
    float* gradient;
    float* apart;
  };
  struct Written {
    Slice slice;
    const float* gradient;
  };

  // True where this call was the first to touch the tensor, in other columns: the place is still free.
  bool written_here(const Slice& s, const float* gradient) const {
    bool same = false;
    for (int i = 0; i < ours_count_; ++i) {
      if (ours_[i].gradient != gradient) continue;
      same = true;
      const Slice& o = ours_[i].slice;
      if (o.first < s.first + s.width && s.first < o.first + o.width) return false;
    }
    return same;
  }

  Tape& tape_;
  Pending pending_[3] = {};
  Written ours_[3] = {};
  int pending_count_ = 0, ours_count_ = 0;
};

/// The same for small tensors: parameters and per-row numbers.
class SmallGradients {
 public:
  explicit SmallGradients(Tape& tape) : tape_(tape) {}

  float* take(const Tensor& t) {
    if (!t || !t.needs_gradient()) return nullptr;
    const GradientSink sink = t.sink();
    if (sink.fresh) return sink.data;
    auto* apart = tape_.arena().take_array<float>(t.size());
    pending_[pending_count_++] = {sink.data, apart, t.size()};
    return apart;
  }
  /// For a tensor that may be larger than what the kernels read, and so write: a bias has a column for every key of the
  /// longest sequence.
  float* take_cleared(const Tensor& t) {
    float* gradient = take(t);
    if (gradient) std::fill_n(gradient, t.size(), 0.0f);
    return gradient;
  }
  void finish() {
    for (int i = 0; i < pending_count_; ++i) {
      const Pending& p = pending_[i];
      for (int64_t j = 0; j < p.size; ++j) p.gradient[j] += p.apart[j];
      tape_.arena().give(p.apart);
    }
  }

  static constexpr int kMost = 32;

 private:
  struct Pending {
    float* gradient;
    float* apart;
    int64_t size;
  };
  Tape& tape_;
  Pending pending_[kMost] = {};
  int pending_count_ = 0;
};

}  // namespace heed
