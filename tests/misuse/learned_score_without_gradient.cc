// expect: void backward(const float* q, const float* k, int64_t dim, float d_score, float* d_q, float* d_k) const
// The score has parameters, but its backward has an argument too few and one of the wrong type.
#include <heed/kernels/attention.h>

struct Learned {
  int64_t parameters() const { return 1; }
  float score(const float* q, const float* k, int64_t) const { return q[0] * k[0]; }
  void backward(const float*, const float*, int64_t, float*, float*) const {}
};

int main() {
  Learned mine;
  auto custom = heed::kernels::custom_score(mine);
  return custom.forward == nullptr;
}
