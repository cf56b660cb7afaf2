// expect: void backward(int64_t b, int64_t h, int64_t i, int64_t j, float d_bias, float* d_parameters) const
#include <heed/kernels/attention.h>

struct NoGradient {
  int64_t parameters() const { return 3; }
  float bias(int64_t, int64_t, int64_t, int64_t) const { return 0.0f; }
};

int main() {
  NoGradient mine;
  auto custom = heed::kernels::custom_bias(mine);
  return custom.add == nullptr;
}
