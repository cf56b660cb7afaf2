// One query between two keys that are equally good: the output is the mean of the values.
#include <heed/kernels/attention.h>

#include <cmath>
#include <cstdio>

int main() {
  const float q[] = {1, 0}, k[] = {0, 1, 0, -1}, v[] = {2, 4};
  float out = 0;

  heed::kernels::Problem problem;
  problem.shape = {.queries = 1, .keys = 2, .dim = 2, .value_dim = 1};
  const heed::kernels::Inputs in = {heed::kernels::contiguous(q, 1, 1, 2), heed::kernels::contiguous(k, 1, 2, 2),
                                    heed::kernels::contiguous(v, 1, 2, 1)};
  heed::kernels::Outputs outputs;
  outputs.out = heed::kernels::contiguous(&out, 1, 1, 1);
  const auto status = heed::kernels::forward(problem, in, outputs);
  if (!status) std::puts(status.message().c_str());
  std::printf("%s: %g\n", heed::kernels::isa().c_str(), static_cast<double>(out));
  return status && std::fabs(out - 3.0f) < 1e-6f ? 0 : 1;
}
