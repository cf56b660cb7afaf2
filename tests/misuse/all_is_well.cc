// expect: nothing
// The control: the right forms compile with the same command, so the others fail for their own reason.
#include <heed/kernels/attention.h>

struct Product {
  float score(const float* q, const float* k, int64_t) const { return q[0] * k[0]; }
  void backward(const float* q, const float* k, int64_t, float g, float* d_q, float* d_k) const {
    d_q[0] += g * k[0];
    d_k[0] += g * q[0];
  }
};
struct Learned {
  int64_t parameters() const { return 1; }
  float bias(int64_t, int64_t, int64_t i, int64_t j) const { return static_cast<float>(i - j); }
  void backward(int64_t, int64_t, int64_t i, int64_t j, float g, float* d) const {
    d[0] += g * static_cast<float>(i - j);
  }
};
struct Backwards {
  std::pair<int64_t, int64_t> keys(int64_t, int64_t, int64_t i, int64_t Tk) const { return {i, Tk}; }
};

int main() {
  Product score;
  Learned bias;
  Backwards region;
  return heed::kernels::custom_score(score).parameters + heed::kernels::custom_bias(bias).parameters +
         (heed::kernels::custom_region(region).visible != nullptr);
}
