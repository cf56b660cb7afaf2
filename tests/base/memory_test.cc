#include "heed/base/memory.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <string>

#include "heed/tensor/tape_arena.h"

namespace heed {
namespace {

std::string lack_of(double bytes) {
  try {
    expect_memory(bytes, "this", "less needs less");
  } catch (const std::bad_alloc& lack) {
    return memory_text(lack);
  }
  return "";
}

TEST(Memory, WhatIsTooMuchIsSaidWithNumbers) {
  EXPECT_GT(memory_left(), 1e6);
  EXPECT_EQ(lack_of(1), "");
  const std::string said = lack_of(1e18);
  EXPECT_TRUE(said.starts_with("not enough memory: this needs about 1000000000.0 GB, and ")) << said;
  EXPECT_TRUE(said.ends_with(" GB are free; less needs less")) << said;
  EXPECT_EQ(memory_text(std::bad_alloc()), "not enough memory");
}

#if !defined(__SANITIZE_ADDRESS__)  // which wants address space without end, and reports what cannot be had

TEST(Memory, ALimitCounts) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  rlimit less = before;
  less.rlim_cur = rlim_t{1} << 20;  // less than the process has already
  ASSERT_EQ(setrlimit(RLIMIT_AS, &less), 0);
  const double left = memory_left();
  ASSERT_EQ(setrlimit(RLIMIT_AS, &before), 0);
  EXPECT_EQ(left, 0.0);
}

TEST(Memory, AnArenaSaysHowMuchItWanted) {
  TapeArena arena;
  try {
    arena.take(size_t{1} << 50);
    FAIL();
  } catch (const std::bad_alloc& lack) {
    EXPECT_TRUE(memory_text(lack).starts_with("not enough memory: this needs about 1125899.9 GB")) << memory_text(lack);
  }
}

#endif

}  // namespace
}  // namespace heed
