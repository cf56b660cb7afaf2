// Every task is done once, by whoever comes, whatever else goes on.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "heed/kernels/one_thread.h"
#include "heed/kernels/threads.h"
#include "tests/threads.h"

namespace heed::kernels {
namespace {

std::vector<int> times_done(int64_t tasks, int threads) {
  std::vector<std::atomic<int>> times(static_cast<size_t>(tasks));
  for_each_task(tasks, threads, [&](int64_t i) { times[static_cast<size_t>(i)].fetch_add(1); });
  return {times.begin(), times.end()};
}

TEST(Threads, EveryTaskIsDoneOnce) {
  for (const int threads : {1, 2, 3, 8})
    for (const int64_t tasks : {0, 1, 2, 7, 1000})
      for (int again = 0; again < 20; ++again)
        EXPECT_EQ(times_done(tasks, threads), std::vector<int>(static_cast<size_t>(tasks), 1)) << threads;
}

TEST(Threads, HelpersComeWhereThereIsTime) {
  std::mutex mutex;
  std::set<std::thread::id> seen;
  for_each_task(8, 3, [&](int64_t) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    const std::lock_guard lock(mutex);
    seen.insert(std::this_thread::get_id());
  });
  EXPECT_EQ(seen.size(), 3u);
}

TEST(Threads, NeverMoreThanAskedFor) {
  std::mutex mutex;
  std::set<std::thread::id> seen;
  times_done(100, 8);  // there are seven helpers now
  for_each_task(50, 2, [&](int64_t) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const std::lock_guard lock(mutex);
    seen.insert(std::this_thread::get_id());
  });
  EXPECT_LE(seen.size(), 2u);
}

TEST(Threads, AfterASleep) {
  times_done(10, 2);
  std::this_thread::sleep_for(std::chrono::milliseconds(30));  // by now helpers sleep
  EXPECT_EQ(times_done(100, 2), std::vector<int>(100, 1));
}

TEST(Threads, InsideEachOther) {
  std::atomic<int> done = 0;
  for_each_task(4, 2, [&](int64_t) { for_each_task(5, 2, [&](int64_t) { ++done; }); });
  EXPECT_EQ(done, 20);
}

TEST(Threads, HelpersAreToldToWorkAlone) {
  std::atomic<int> most = 0;
  on_threads(4, [&](bool helper) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    if (helper) most = std::max(most.load(), most_threads());
  });
  EXPECT_EQ(most, 1);
}

TEST(Threads, ManyCallersAtOnce) {
  std::vector<std::thread> callers;
  callers.reserve(6);
  std::atomic<int> wrong = 0;
  for (int c = 0; c < 6; ++c)
    callers.emplace_back([&] {
      for (int again = 0; again < 200; ++again)
        if (times_done(37, 3) != std::vector<int>(37, 1)) ++wrong;
    });
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Threads, AChildProcessHasItsOwn) {
  times_done(10, 3);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) _exit(times_done(100, 3) == std::vector<int>(100, 1) ? 0 : 1);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(Threads, TheNumberIsOpenMPs) {
  const heed::test::Threads five(5);
  EXPECT_EQ(most_threads(), 5);
}

TEST(Threads, OneThreadMeansOneUntilItEnds) {
  const heed::test::Threads five(5);
  {
    const OneThread alone;
    EXPECT_EQ(most_threads(), 1);
    EXPECT_EQ(times_done(10, most_threads()), std::vector<int>(10, 1));
  }
  EXPECT_EQ(most_threads(), 5);
}

}  // namespace
}  // namespace heed::kernels
