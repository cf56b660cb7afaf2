// The plain composition: two matrix products with a softmax between them, all scores of a head in memory. It is what
// one writes with a BLAS, and the contestant that a fused kernel must never lose to unnoticed.
#pragma once

#include <cstdint>

#include "buffer.h"

namespace heed::bench {

/// Sizes of scaled dot-product attention on contiguous [B, H, T, D] tensors, Dv = D.
struct PlainShape {
  int64_t batch_heads = 0;  // B * H
  int64_t queries = 0;
  int64_t keys = 0;
  int64_t dim = 0;
  float scale = 1.0f;
  bool causal = false;
};

struct PlainInputs {
  const float *q, *k, *v;
};

struct PlainGradients {
  float *d_q, *d_k, *d_v;
};

class Plain {
 public:
  /// `train` keeps the weights of all heads for the backward, as a tape would.
  Plain(const PlainShape& shape, bool train);

  void forward(const PlainInputs& in, float* out, int threads);

  /// Needs forward() before it.
  void backward(const PlainInputs& in, const float* d_out, const PlainGradients& grad, int threads);

 private:
  void reserve(int threads);
  float* weights_of(int64_t head, int thread) const;

  PlainShape shape_;
  bool train_;
  Buffer weights_;    // train: [B * H, Tq, Tk]; else one [Tq, Tk] per thread
  Buffer d_weights_;  // one [Tq, Tk] per thread
  int threads_ = 0;
};

}  // namespace heed::bench
