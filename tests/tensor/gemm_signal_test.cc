// Signals during a product. The library's kernels may use other memory as their stack; a handler must never run on it.
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>

#include <atomic>
#include <vector>

#include "heed/tensor/gemm.h"

namespace heed::test {
namespace {

const char* stack_low;
const char* stack_high;
std::atomic<int> handled, elsewhere;

void look_where(int) {
  const auto* here = static_cast<const char*>(__builtin_frame_address(0));
  ++handled;
  if (here < stack_low || here >= stack_high) ++elsewhere;
}

void find_stack() {
  pthread_attr_t attributes;
  void* low = nullptr;
  size_t size = 0;
  ASSERT_EQ(pthread_getattr_np(pthread_self(), &attributes), 0);
  pthread_attr_getstack(&attributes, &low, &size);
  pthread_attr_destroy(&attributes);
  stack_low = static_cast<const char*>(low);
  stack_high = stack_low + size;
}

TEST(GemmSignal, HandlersRunOnTheStack) {
  find_stack();
  struct sigaction action = {}, before = {};
  action.sa_handler = look_where;
  action.sa_flags = SA_RESTART;
  ASSERT_EQ(sigaction(SIGALRM, &action, &before), 0);
  const itimerval often{{0, 100}, {0, 100}}, never{};
  setitimer(ITIMER_REAL, &often, nullptr);
  for (int round = 0; handled < 300 && round < 2000; ++round)
    for (const int64_t k : {33, 256, 2100}) {
      constexpr int64_t kRows = 48, kCols = 64;
      const std::vector<float> a(static_cast<size_t>(kRows * k), 1.0f), b(static_cast<size_t>(k * kCols), 1.0f);
      std::vector<float> c(static_cast<size_t>(kRows * kCols));
      Gemm g{.m = kRows, .n = kCols, .k = k};
      g.a = a.data(), g.a_stride = k;
      g.b = b.data(), g.b_stride = kCols;
      g.c = c.data(), g.c_stride = kCols;
      gemm(g);
      for (const float x : c) ASSERT_EQ(x, static_cast<float>(k));
    }
  setitimer(ITIMER_REAL, &never, nullptr);
  sigaction(SIGALRM, &before, nullptr);
  EXPECT_GE(handled, 100);
  EXPECT_EQ(elsewhere, 0);
}

}  // namespace
}  // namespace heed::test
