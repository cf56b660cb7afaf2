// slow: 8 s
#include "heed/checkpoint/run_folder.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <random>
#include <thread>

#include "heed/base/atomic.h"
#include "tests/base/temporary.h"
#include "tests/checkpoint/faults.h"
#include "tests/checkpoint/small_checkpoint.h"
#include "tests/tensor/gradient_check.h"

namespace heed::test {
namespace {

using file::Checkpoint;
using file::RunFolder;
using Names = std::vector<std::string>;

void save(RunFolder& run, int64_t step) { run.save(SmallCheckpoint(step).writer, step); }

/// One byte of one part changes.
void damage(const fs::path& checkpoint) {
  std::string text = slurp(checkpoint / "config.toml");
  text[0] = 'N';
  spill(checkpoint / "config.toml", text);
}

std::string damaged(const fs::path& checkpoint) {
  return fmt::format("checkpoint '{}' is damaged: config.toml has changed: its SHA-256 is not that of the manifest",
                     checkpoint.string());
}

TEST(RunFolder, StepsInOrder) {
  const TemporaryFolder folder;
  RunFolder run(folder / "run");
  EXPECT_EQ(run.names(), Names{});
  EXPECT_FALSE(run.newest().checkpoint);
  EXPECT_FALSE(run.best_name());
  EXPECT_EQ(run.save(SmallCheckpoint(200).writer, 200), "step-000200");
  for (const int64_t step : {0, 100, 1000000, 999999}) save(run, step);
  EXPECT_EQ(run.names(), (Names{"step-000000", "step-000100", "step-000200", "step-999999", "step-1000000"}));
  const auto newest = run.newest();
  EXPECT_TRUE(newest.damaged.empty());
  EXPECT_EQ(number_of(*newest.checkpoint), 1000000);
  EXPECT_EQ(number_of(run.open("last")), 1000000);
  EXPECT_EQ(number_of(run.open("step-000100")), 100);
  // What only looks like one is none.
  for (const char* name :
       {"step-", "step-1", "step-0000001", "step-00000x", "step-99999999999999999999", "step-000100x"})
    fs::create_directory(folder / "run" / name);
  EXPECT_EQ(run.names().size(), 5u);
}

TEST(RunFolder, TheNewestGoodOne) {
  const TemporaryFolder folder;
  RunFolder run(folder.path());
  for (const int64_t step : {1, 2, 3}) save(run, step);
  damage(folder / "step-000003");
  auto newest = run.newest();
  EXPECT_EQ(number_of(*newest.checkpoint), 2);
  ASSERT_EQ(newest.damaged.size(), 1u);
  EXPECT_EQ(newest.damaged[0].name, "step-000003");
  EXPECT_EQ(newest.damaged[0].reason, damaged(folder / "step-000003"));

  fs::remove(folder / "step-000002" / "MANIFEST.json");
  newest = run.newest();
  EXPECT_EQ(number_of(*newest.checkpoint), 1);
  EXPECT_EQ(newest.damaged.size(), 2u);
  damage(folder / "step-000001");
  newest = run.newest();
  EXPECT_FALSE(newest.checkpoint);
  EXPECT_EQ(newest.damaged.size(), 3u);

  save(run, 3);  // the training goes on and comes by again
  EXPECT_EQ(number_of(*run.newest().checkpoint), 3);
}

TEST(RunFolder, ADamagedOneIsRefusedAndTheOneBeforeOffered) {
  const TemporaryFolder folder;
  RunFolder run(folder.path());
  expect_error([&] { run.open("last"); }, fmt::format("'{}' holds no checkpoint", folder.path().string()));
  for (const int64_t step : {1, 2, 3, 4}) save(run, step);
  damage(folder / "step-000002");
  damage(folder / "step-000003");
  for (const char* name : {"step-000003", "best"}) {
    run.mark_best("step-000003");
    expect_error([&] { run.open(name); },
                 damaged(folder / "step-000003") + "; the newest good one before it is 'step-000001'");
  }
  damage(folder / "step-000001");
  expect_error([&] { run.open("step-000002"); }, damaged(folder / "step-000002") + "; there is no good one before it");
  expect_error(
      [&] { run.open("step-00004"); },
      fmt::format("'{}': there is no checkpoint 'step-00004'; did you mean 'step-000004'?", folder.path().string()));
  expect_error(
      [&] { run.open("step-000005"); },
      fmt::format("there is no checkpoint '{}': no such folder; the newest good one before it is 'step-000004'",
                  (folder / "step-000005").string()));
}

TEST(RunFolder, TheBest) {
  const TemporaryFolder folder;
  RunFolder run(folder.path());
  save(run, 1);
  save(run, 2);
  expect_error([&] { run.open("best"); },
               fmt::format("'{}': no checkpoint was marked as the best yet; the last one is 'step-000002'",
                           folder.path().string()));
  expect_error(
      [&] { run.mark_best("step-000003"); },
      fmt::format("'{}': there is no checkpoint 'step-000003' that could be the best", folder.path().string()));
  run.mark_best("step-000001");
  EXPECT_EQ(slurp(folder / "best.txt"), "step-000001\n");
  EXPECT_EQ(run.best_name(), "step-000001");
  EXPECT_EQ(number_of(run.open("best")), 1);
  run.mark_best("step-000002");
  EXPECT_EQ(number_of(RunFolder(folder.path()).open("best")), 2);
  spill(folder / "best.txt", "../other\r\n");
  expect_error([&] { run.best_name(); },
               fmt::format("'{}' must hold the name of a checkpoint, as step-000100, not '../other'",
                           (folder / "best.txt").string()));
}

TEST(RunFolder, KeepsTheLastAndTheBest) {
  const TemporaryFolder folder;
  RunFolder run(folder.path());
  for (int64_t step = 1; step <= 6; ++step) save(run, step);
  run.mark_best("step-000002");
  run.keep(3);
  EXPECT_EQ(run.names(), (Names{"step-000002", "step-000004", "step-000005", "step-000006"}));
  run.mark_best("step-000005");
  run.keep(1);
  EXPECT_EQ(run.names(), (Names{"step-000005", "step-000006"}));
  EXPECT_EQ(names_in(folder.path()), (Names{"best.txt", "step-000005", "step-000006"}));
  run.keep(10);
  EXPECT_EQ(run.names().size(), 2u);
  expect_error([&] { run.keep(0); },
               fmt::format("'{}': at least 1 checkpoint must be kept, not 0", folder.path().string()));
}

TEST(RunFolder, DamagedOnesDoNotCountAsKept) {
  const TemporaryFolder folder;
  {
    RunFolder run(folder.path());
    for (int64_t step = 1; step <= 4; ++step) save(run, step);
  }
  damage(folder / "step-000003");
  damage(folder / "step-000004");
  RunFolder run(folder.path());
  run.keep(1);
  EXPECT_EQ(run.names(), (Names{"step-000002", "step-000003", "step-000004"}));
  EXPECT_EQ(number_of(*run.newest().checkpoint), 2);
}

TEST(RunFolder, LeftoversAreIgnoredAndRemoved) {
  const TemporaryFolder folder;
  RunFolder run(folder.path());
  save(run, 1);
  fs::create_directory(folder / ".step-000002.partial-1");
  spill(folder / ".best.txt.partial-1", "st");
  EXPECT_EQ(run.names(), Names{"step-000001"});
  EXPECT_EQ(run.clean(), (Names{".best.txt.partial-1", ".step-000002.partial-1"}));
  fs::create_directory(folder / ".step-000002.partial-1");
  save(run, 2);
  EXPECT_EQ(names_in(folder.path()), (Names{"step-000001", "step-000002"}));
  expect_error([&] { save(run, -1); },
               fmt::format("'{}': a checkpoint cannot have the step -1", folder.path().string()));
}

/// What a training does at each checkpoint.
void one_step(RunFolder& run, int64_t step) {
  save(run, step);
  if (step % 3 == 0) run.mark_best(RunFolder::name_of(step));
  run.keep(2);
}

TEST(RunFolder, SurvivesEveryFault) {
  const TemporaryFolder folder;
  RunFolder run(folder / "run");
  for (int64_t step = 0; step < 3; ++step) one_step(run, step);
  int64_t last = 2, step = 3;  // those that can be the best
  for (const int error : {ENOSPC, EIO}) {
    const int calls = fail_at_every_call(
        error, [&] { one_step(run, step); },
        [&](const std::string&) {
          const auto newest = RunFolder(folder / "run").newest();
          ASSERT_TRUE(newest.checkpoint);
          EXPECT_TRUE(newest.damaged.empty());
          const int64_t number = number_of(*newest.checkpoint);
          EXPECT_TRUE(number == step || number == last) << number << " after " << last << " at " << step;
          last = step + 1;
          one_step(run, last);  // the disk works again
          step += 3;
        });
    EXPECT_GT(calls, 25);
    last = step;
    step += 3;
  }
}

TEST(RunFolder, SurvivesKillAtEveryCall) {
  const TemporaryFolder folder;
  RunFolder run(folder / "run");
  for (int64_t step = 0; step < 3; ++step) one_step(run, step);
  int64_t step = 3;
  const int killed = kill_at_every_call(
      [&] {
        RunFolder child(folder / "run");
        one_step(child, step);
      },
      [&] {
        RunFolder after(folder / "run");
        const auto newest = after.newest();
        ASSERT_TRUE(newest.checkpoint);
        EXPECT_TRUE(newest.damaged.empty()) << newest.damaged[0].reason;
        const int64_t number = number_of(*newest.checkpoint);
        EXPECT_TRUE(number == step || number == step - 1) << number;
        number_of(after.open("best"));
        after.clean();
        for (const std::string& name : names_in(folder / "run")) EXPECT_NE(name[0], '.') << name;
        if (number == step) file::remove_folder(folder / "run" / RunFolder::name_of(step));
        // The same start for the next one.
        save(after, 0);
        save(after, 1);
        save(after, 2);
        after.mark_best("step-000000");
      });
  EXPECT_GT(killed, 25);
}

// kill -9 at any moment: whatever was reported as saved is there, and the newest is whole.
TEST(RunFolder, SurvivesKillAtRandomMoments) {
  const TemporaryFolder folder;
  std::mt19937 random(3);
  int64_t last = -1;
  int saved = 0;
  for (int round = 0; round < 60; ++round) {
    int pipe[2];
    ASSERT_EQ(::pipe(pipe), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      RunFolder run(folder / "run");
      for (int64_t step = last + 1;; ++step) {
        one_step(run, step);
        if (::write(pipe[1], &step, sizeof step) != sizeof step) ::_exit(1);
      }
    }
    ::close(pipe[1]);
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 250'000));
    ::kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << "the writer failed";
    for (int64_t step = 0; ::read(pipe[0], &step, sizeof step) == sizeof step; ++saved) last = step;
    ::close(pipe[0]);

    RunFolder run(folder / "run");
    const auto newest = run.newest();
    ASSERT_TRUE(newest.damaged.empty()) << newest.damaged[0].reason;
    if (last < 0 && !newest.checkpoint) continue;
    ASSERT_TRUE(newest.checkpoint) << "round " << round;
    const int64_t number = number_of(*newest.checkpoint);
    ASSERT_TRUE(number == last || number == last + 1) << number << " after " << last;
    if (run.best_name()) number_of(run.open("best"));
    last = number;
  }
  EXPECT_GT(saved, 20);
}

TEST(RunFolder, OneWriterAtATime) {
  const TemporaryFolder folder;
  const RunFolder run(folder / "run");
  {
    const file::Descriptor lock = run.lock();
    EXPECT_TRUE(fs::is_directory(folder / "run"));
    expect_error(
        [&] { run.lock(); },
        fmt::format("'{}' is in use: another training (process {}) is writing to it. Wait until it ends, or choose "
                    "another folder",
                    (folder / "run").string(), ::getpid()));
    spill(folder / "run" / ".lock", "some text");
    expect_error(
        [&] { run.lock(); },
        fmt::format("'{}' is in use: another training is writing to it. Wait until it ends, or choose another folder",
                    (folder / "run").string()));
  }
  run.lock();
}

TEST(RunFolder, TheLockOfAKilledWriterIsFree) {
  const TemporaryFolder folder;
  const RunFolder run(folder / "run");
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const file::Descriptor lock = run.lock();
    if (lock && ::write(ready[1], "x", 1) == 1) ::pause();
    ::_exit(0);
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  EXPECT_THROW(run.lock(), Error);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  run.lock();
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST(RunFolder, ClearingRemovesItsOwnAndNothingElse) {
  const TemporaryFolder folder;
  RunFolder run(folder.path());
  for (const int step : {1, 2}) save(run, step);
  run.mark_best("step-000001");
  spill(folder / "thesis.txt", "years of work");
  fs::create_directory(folder / "step-1");
  fs::create_directory(folder / ".step-000003.partial-1");
  run.clear();
  EXPECT_EQ(names_in(folder.path()), (Names{".lock", "step-1", "thesis.txt"}));
  EXPECT_TRUE(run.names().empty());
  EXPECT_FALSE(run.best_name().has_value());
}

}  // namespace
}  // namespace heed::test
