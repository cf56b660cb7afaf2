// What waits together and is alike is done together; nobody waits for ever; what is too much is refused.
#include "heed/serve/work_queue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <latch>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "heed/kernels/interrupt.h"

namespace heed::serve {
namespace {

using std::chrono::milliseconds;

struct Seen {
  std::mutex mutex;
  std::vector<std::vector<int>> goes;
  std::atomic<int> done{0}, late{0};
  std::atomic<bool> interrupted{false};

  bool wait_for(int count) {
    for (int i = 0; i < 5000 && done + late < count; ++i) std::this_thread::sleep_for(milliseconds(1));
    return done + late >= count;
  }
};

class TestJob : public Job {
 public:
  TestJob(Seen& seen, int number, std::function<void()> work = {})
      : seen_(seen), number_(number), work_(std::move(work)) {}
  bool abandoned() const override { return gone && *gone; }
  void too_late() noexcept override { ++seen_.late; }
  void run(std::span<const std::unique_ptr<Job>> jobs) noexcept override {
    if (work_) work_();
    std::vector<int> numbers;
    for (const auto& job : jobs) numbers.push_back(static_cast<const TestJob&>(*job).number_);
    {
      const std::lock_guard lock(seen_.mutex);
      seen_.goes.push_back(numbers);
    }
    seen_.done += static_cast<int>(jobs.size());
  }

  std::shared_ptr<std::atomic<bool>> gone;

 private:
  Seen& seen_;
  int number_;
  std::function<void()> work_;
};

std::vector<std::unique_ptr<Job>> one(std::unique_ptr<Job> job, std::string alike = "") {
  job->alike = std::move(alike);
  std::vector<std::unique_ptr<Job>> jobs;
  jobs.push_back(std::move(job));
  return jobs;
}

TEST(WorkQueue, DoesWhatIsAlikeTogether) {
  Seen seen;
  WorkQueue queue({.threads = 1, .waiting = 100, .together = 3});
  std::latch begin(1);
  ASSERT_TRUE(queue.add(one(std::make_unique<TestJob>(seen, 0, [&] { begin.wait(); }))));
  for (int i = 1; i <= 8; ++i)
    ASSERT_TRUE(queue.add(one(std::make_unique<TestJob>(seen, i), i == 8 ? "" : i % 2 ? "odd" : "even")));
  EXPECT_LE(queue.waiting(), 9);
  begin.count_down();
  ASSERT_TRUE(seen.wait_for(9));
  EXPECT_EQ(seen.goes, (std::vector<std::vector<int>>{{0}, {1, 3, 5}, {2, 4, 6}, {7}, {8}}));
}

TEST(WorkQueue, RefusesWhatIsTooMuchAllOrNothing) {
  Seen seen;
  WorkQueue queue({.threads = 1, .waiting = 2, .together = 1});
  std::latch begun(1), go_on(1);
  ASSERT_TRUE(queue.add(one(std::make_unique<TestJob>(seen, 0, [&] {
    begun.count_down();
    go_on.wait();
  }))));
  begun.wait();
  std::vector<std::unique_ptr<Job>> three;
  for (int i = 1; i <= 3; ++i) three.push_back(std::make_unique<TestJob>(seen, i));
  EXPECT_FALSE(queue.add(std::move(three)));
  EXPECT_EQ(queue.waiting(), 0);
  EXPECT_TRUE(queue.add(one(std::make_unique<TestJob>(seen, 4))));
  EXPECT_TRUE(queue.add(one(std::make_unique<TestJob>(seen, 5))));
  EXPECT_FALSE(queue.add(one(std::make_unique<TestJob>(seen, 6))));
  go_on.count_down();
  ASSERT_TRUE(seen.wait_for(3));
  EXPECT_TRUE(queue.add(one(std::make_unique<TestJob>(seen, 7)))) << "it recovers";
  ASSERT_TRUE(seen.wait_for(4));
}

TEST(WorkQueue, DropsWhatNobodyWaitsForAndTellsWhatIsLate) {
  Seen seen;
  WorkQueue queue({.threads = 1, .waiting = 10, .together = 4});
  std::latch begun(1), go_on(1);
  ASSERT_TRUE(queue.add(one(std::make_unique<TestJob>(seen, 0, [&] {
    begun.count_down();
    go_on.wait();
  }))));
  begun.wait();
  auto gone = std::make_unique<TestJob>(seen, 1);
  gone->gone = std::make_shared<std::atomic<bool>>(true);
  auto late = std::make_unique<TestJob>(seen, 2);
  late->deadline = Clock::now();
  ASSERT_TRUE(queue.add(one(std::move(gone), "a")));
  ASSERT_TRUE(queue.add(one(std::move(late), "a")));
  ASSERT_TRUE(queue.add(one(std::make_unique<TestJob>(seen, 3), "a")));
  go_on.count_down();
  ASSERT_TRUE(seen.wait_for(3));
  EXPECT_EQ(seen.goes, (std::vector<std::vector<int>>{{0}, {3}}));
  EXPECT_EQ(seen.late, 1);
}

void spin_until_interrupted(Seen& seen) {
  const auto end = Clock::now() + std::chrono::seconds(20);
  while (!kernels::interrupted() && Clock::now() < end) std::this_thread::sleep_for(milliseconds(1));
  seen.interrupted = Clock::now() < end;
}

TEST(WorkQueue, InterruptsWhatTakesTooLong) {
  Seen seen;
  WorkQueue queue({.threads = 1});
  auto slow = std::make_unique<TestJob>(seen, 0, [&] { spin_until_interrupted(seen); });
  slow->deadline = Clock::now() + milliseconds(100);
  ASSERT_TRUE(queue.add(one(std::move(slow))));
  ASSERT_TRUE(seen.wait_for(1));
  EXPECT_TRUE(seen.interrupted);
  ASSERT_TRUE(queue.add(one(std::make_unique<TestJob>(seen, 1, [] { EXPECT_FALSE(kernels::interrupted()); }))));
  ASSERT_TRUE(seen.wait_for(2)) << "the next one is not";
}

TEST(WorkQueue, InterruptsWhatNobodyWaitsForAnyMore) {
  Seen seen;
  WorkQueue queue({.threads = 1});
  auto job = std::make_unique<TestJob>(seen, 0, [&] { spin_until_interrupted(seen); });
  const auto gone = job->gone = std::make_shared<std::atomic<bool>>(false);
  ASSERT_TRUE(queue.add(one(std::move(job))));
  std::this_thread::sleep_for(milliseconds(50));
  EXPECT_EQ(seen.done, 0);
  *gone = true;
  ASSERT_TRUE(seen.wait_for(1));
  EXPECT_TRUE(seen.interrupted);
}

TEST(WorkQueue, EndsWithWorkUnderWay) {
  Seen seen;
  {
    WorkQueue queue({.threads = 2});
    for (int i = 0; i < 2; ++i)
      ASSERT_TRUE(queue.add(one(std::make_unique<TestJob>(seen, i, [&] { spin_until_interrupted(seen); }))));
    std::this_thread::sleep_for(milliseconds(20));
  }
  EXPECT_TRUE(seen.interrupted);
}

}  // namespace
}  // namespace heed::serve
