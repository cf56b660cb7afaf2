// expect: a score needs: float score(const float* q, const float* k, int64_t dim) const
#include <heed/kernels/attention.h>

struct ForwardOnly {
  float score(const float* q, const float* k, int64_t) const { return q[0] * k[0]; }
};

int main() {
  ForwardOnly mine;
  auto custom = heed::kernels::custom_score(mine);
  return custom.forward == nullptr;
}
