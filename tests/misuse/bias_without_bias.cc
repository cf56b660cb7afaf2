// expect: a bias needs: float bias(int64_t b, int64_t h, int64_t i, int64_t j) const
#include <heed/kernels/attention.h>

struct NotABias {
  float value(int64_t i, int64_t j) const { return static_cast<float>(i - j); }
};

int main() {
  NotABias mine;
  auto custom = heed::kernels::custom_bias(mine);
  return custom.add == nullptr;
}
