// Runs the smallest forward and prints the instruction set that it ran on; with --list, all that could be forced.
#include <cstdio>
#include <cstring>

#include "heed/kernels/attention.h"

int main(int argc, char** argv) {
  using namespace heed::kernels;
  if (argc > 1 && std::strcmp(argv[1], "--list") == 0) {
    for (const auto& name : available_isas()) std::puts(name.c_str());
    return 0;
  }
  const float one = 1.0f;
  float out = 0.0f;
  Problem problem;
  problem.shape = {.queries = 1, .keys = 1, .dim = 1, .value_dim = 1};
  const auto in = contiguous(&one, 1, 1, 1);
  const Status status = forward(problem, {in, in, in}, {.out = contiguous(&out, 1, 1, 1)});
  std::puts(status ? isa().c_str() : status.message().c_str());
  if (isa_status().ok() != status.ok()) std::puts("isa_status() and forward() disagree");
  return status && isa_status() && out == 1.0f ? 0 : 1;
}
