#include "heed/tensor/profile.h"

#include <gtest/gtest.h>

#include <thread>

namespace heed {
namespace {

void work(Work kind, int milliseconds) {
  const Timed timed(kind);
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

TEST(Profile, CountsByKind) {
  Profile profile;
  {
    const Profiling profiling(&profile);
    work(Work::kProduct, 20);
    work(Work::kNorm, 5);
    work(Work::kProduct, 20);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_GE(profile.of(Work::kProduct), 0.040);
  EXPECT_GE(profile.of(Work::kNorm), 0.005);
  EXPECT_EQ(profile.of(Work::kAttention), 0.0);
  EXPECT_GE(profile.all, profile.of(Work::kProduct) + profile.of(Work::kNorm) + 0.010);
}

TEST(Profile, WorkInsideOtherWorkIsTheOuterOnes) {
  Profile profile;
  {
    const Profiling profiling(&profile);
    const Timed timed(Work::kOutput);
    work(Work::kProduct, 10);
  }
  EXPECT_EQ(profile.of(Work::kProduct), 0.0);
  EXPECT_GE(profile.of(Work::kOutput), 0.010);
}

TEST(Profile, NothingIsCountedUnasked) {
  Profile profile;
  work(Work::kProduct, 1);
  {
    const Profiling nobody(nullptr);
    work(Work::kProduct, 1);
  }
  std::thread other([] { work(Work::kProduct, 1); });
  {
    const Profiling profiling(&profile);
    other.join();
  }
  EXPECT_EQ(profile.of(Work::kProduct), 0.0);
}

}  // namespace
}  // namespace heed
