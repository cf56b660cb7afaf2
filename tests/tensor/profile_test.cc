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
    work(Work::product, 20);
    work(Work::norm, 5);
    work(Work::product, 20);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_GE(profile.of(Work::product), 0.040);
  EXPECT_GE(profile.of(Work::norm), 0.005);
  EXPECT_EQ(profile.of(Work::attention), 0.0);
  EXPECT_GE(profile.all, profile.of(Work::product) + profile.of(Work::norm) + 0.010);
}

TEST(Profile, WorkInsideOtherWorkIsTheOuterOnes) {
  Profile profile;
  {
    const Profiling profiling(&profile);
    const Timed timed(Work::output);
    work(Work::product, 10);
  }
  EXPECT_EQ(profile.of(Work::product), 0.0);
  EXPECT_GE(profile.of(Work::output), 0.010);
}

TEST(Profile, NothingIsCountedUnasked) {
  Profile profile;
  work(Work::product, 1);
  {
    const Profiling nobody(nullptr);
    work(Work::product, 1);
  }
  std::thread other([] { work(Work::product, 1); });
  {
    const Profiling profiling(&profile);
    other.join();
  }
  EXPECT_EQ(profile.of(Work::product), 0.0);
}

}  // namespace
}  // namespace heed
