// One query between two keys that are equally good: the output is the mean of the values.
#include <heed/kernels/attention.h>
#include <heed/version.h>

#include <cmath>
#include <cstdio>
#include <string>

/// The headers, the library and CMake's package agree on the version.
bool is_one_version() {
  const std::string numbers = std::to_string(HEED_VERSION_MAJOR) + "." + std::to_string(HEED_VERSION_MINOR) + "." +
                              std::to_string(HEED_VERSION_PATCH);
  bool same = numbers == HEED_VERSION && numbers == heed::version();
#ifdef PACKAGE_VERSION
  same = same && numbers == PACKAGE_VERSION;
#endif
  return same;
}

int main() {
  if (!is_one_version()) return std::puts("the versions differ"), 1;
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
