// Runs the library on a Case: lays the numbers out in memory as asked, calls forward and backward, brings the results
// back into contiguous order. Outputs start as NaN, so that whatever the library forgets to write is found.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "heed/kernels/attention.h"
#include "tests/kernels/case.h"
#include "tests/kernels/custom_parts.h"

namespace heed::kernels::test {

/// How [B, heads, T, width] tensors lie in memory.
struct Layout {
  bool heads_inside = false;  // [B, T, heads, width]
  int64_t col = 1;            // distance of neighbouring columns
  int64_t row_gap = 0;        // unused elements after each row
};

/// A tensor in a layout. The gaps hold NaN: reading one poisons the result, writing one is seen by gaps_untouched().
struct Laid {
  std::vector<float> data;
  Strided<float> view;
  int64_t batch = 0, heads = 0, rows = 0, width = 0;

  Laid() = default;
  Laid(int64_t b, int64_t h, int64_t r, int64_t w, const Layout& layout) : batch(b), heads(h), rows(r), width(w) {
    const int64_t row = w * layout.col + layout.row_gap;
    data.assign(b * h * r * row + 1, std::numeric_limits<float>::quiet_NaN());
    view = layout.heads_inside ? Strided<float>{data.data(), r * h * row, row, h * row, layout.col}
                               : Strided<float>{data.data(), h * r * row, r * row, row, layout.col};
  }
  template <class F>
  void each(F&& f) const {
    int64_t n = 0;
    for (int64_t b = 0; b < batch; ++b)
      for (int64_t h = 0; h < heads; ++h)
        for (int64_t r = 0; r < rows; ++r)
          for (int64_t w = 0; w < width; ++w) f(n++, view.at(b, h, r)[w * view.col]);
  }
  template <class T>
  void write(const std::vector<T>& from) {
    each([&](int64_t n, float& to) { to = static_cast<float>(from[n]); });
  }
  std::vector<float> read() const {
    std::vector<float> to(batch * heads * rows * width);
    each([&](int64_t n, float& from) { to[n] = from; });
    return to;
  }
  bool gaps_untouched() const {
    Laid copy = *this;
    copy.view.data = copy.data.data();
    copy.each([](int64_t, float& value) { value = std::numeric_limits<float>::quiet_NaN(); });
    for (float value : copy.data)
      if (value == value) return false;
    return true;
  }
};

inline std::vector<float> unwritten(size_t size) {
  return std::vector<float>(size, std::numeric_limits<float>::quiet_NaN());
}
inline float* or_null(std::vector<float>& values) { return values.empty() ? nullptr : values.data(); }
template <class T>
const T* or_null(const std::vector<T>& values) {
  return values.empty() ? nullptr : values.data();
}

class Library {
 public:
  explicit Library(const Case& c, const Layout& layout = {}, int threads = 0);
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  /// From now on the forward keeps its scores, and the backward reads them.
  void keep_scores();

  Status forward();

  /// Every gradient there is. To be called after forward().
  Status backward();

  /// Dense weights of everything, [B, H, longest Tq, longest Tk], into results.weights.
  Status weights();
  Status weights(const WeightsRequest& request);

  Problem problem;
  Inputs inputs;
  Outputs outputs;
  // What backward() passed on, for whoever wants to call the same again.
  Problem backward_problem;
  BackwardInputs from;
  Gradients to;
  Results<float> results;
  Values<float> grad;
  std::vector<float> saved, forced_saved, kept_scores;
  bool gaps_untouched = true;

 private:
  /// A tensor of query rows or of key rows.
  Laid lay(bool of_queries, int64_t heads, int64_t width, const std::vector<double>* values = nullptr) const;

  /// Forced-forward, starting empty: the state is asked for too, by handing in one in which nothing was seen.
  std::vector<float> first_state() const;

  /// NaN at the pairs that there are, 0 elsewhere.
  void forget_pairs_of_the_bias();

  void bind_problem();
  void bind_outputs();

  const Case& c_;
  Layout layout_;
  Values<float> floats_;
  Upstream<float> up_;
  std::vector<float> guide_;
  Laid q_, k_, v_, out_, d_out_, d_q_, d_k_, d_v_;
  std::vector<float> state_;
  std::vector<MlpLayerGradient> d_layers_;
  std::vector<MlpLayer> layers_;
  DistanceScore distance_;
  WaveBias wave_;
  CombRegion comb_;
  CustomScore custom_score_;
  CustomBias custom_bias_;
  CustomRegion custom_region_;
};

}  // namespace heed::kernels::test
