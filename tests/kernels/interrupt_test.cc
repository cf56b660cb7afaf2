// Work that its caller wants no more of ends early and says so; without such a caller nothing is asked.
#include "heed/kernels/interrupt.h"

#include <chrono>
#include <thread>

#include <gtest/gtest.h>

#include "tests/kernels/expect.h"

namespace heed::kernels::test {
namespace {

int asked = 0;
bool yes() { return ++asked > 0; }
bool no() { return ++asked < 0; }

/// Longer than the time between two questions.
void wait() { std::this_thread::sleep_for(std::chrono::milliseconds(60)); }

constexpr int kThreads = 1;  // a helper may be done with all of it before the caller comes to ask

Case small() {
  Case c({.batch = 1, .heads = 2, .queries = 300, .keys = 40, .dim = 8, .value_dim = 8});
  c.fill(1);
  return c;
}

TEST(Interrupt, EndsForwardAndBackward) {
  const Case c = small();
  Library library(c, {}, kThreads);
  ASSERT_TRUE(library.forward().ok());
  {
    asked = 0;
    const Interruptible caller(yes);
    wait();
    const Status forward = library.forward();
    ASSERT_FALSE(forward.ok());
    EXPECT_NE(forward.message().find("interrupted"), std::string::npos);
    EXPECT_EQ(asked, 1);
    EXPECT_TRUE(interrupted()) << "once said, it stays said";
    EXPECT_EQ(asked, 1) << "and is not asked again";
    EXPECT_FALSE(library.backward().ok());
  }
  EXPECT_FALSE(interrupted());
  ASSERT_TRUE(library.forward().ok());
  EXPECT_TRUE(library.backward().ok());
}

TEST(Interrupt, GoesOnWhereNobodyWantsIt) {
  asked = 0;
  const Case c = small();
  Library library(c, {}, kThreads);
  const Interruptible caller(no);
  wait();
  EXPECT_TRUE(library.forward().ok());
  EXPECT_EQ(asked, 1);
}

TEST(Interrupt, HelpersFollowTheirCaller) {
  asked = 0;
  const Interruptible caller(yes);
  bool before = true, after = false;
  const auto helper = [&](bool& said) {
    std::thread([&, like = Interruptible::of_this_thread()] {
      EXPECT_FALSE(interrupted()) << "a thread of its own";
      const InterruptedLike follows(like);
      said = interrupted();
    }).join();
  };
  wait();
  helper(before);
  EXPECT_FALSE(before) << "only the caller's own thread asks";
  EXPECT_EQ(asked, 0);
  EXPECT_TRUE(interrupted());
  helper(after);
  EXPECT_TRUE(after);
}

}  // namespace
}  // namespace heed::kernels::test
