#include "heed/checkpoint/checkpoint.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <iostream>

#include "heed/base/atomic.h"
#include "heed/base/sha256.h"
#include "tests/base/temporary.h"
#include "tests/checkpoint/faults.h"
#include "tests/checkpoint/small_checkpoint.h"
#include "tests/tensor/gradient_check.h"

namespace heed::test {
namespace {

using file::Checkpoint;
using file::CheckpointWriter;
using Names = std::vector<std::string>;

TEST(Checkpoint, GoesAndComesBack) {
  const TemporaryFolder folder;
  SmallCheckpoint(7).writer.commit(folder / "c");
  const Checkpoint back = Checkpoint::open(folder / "c");
  EXPECT_EQ(number_of(back), 7);
  EXPECT_EQ(back.folder(), folder / "c");
  EXPECT_EQ(back.name(), "c");
  EXPECT_TRUE(back.has("config.toml"));
  EXPECT_FALSE(back.has("config"));
  EXPECT_EQ(Checkpoint::open(folder / "c" / "").name(), "c");
  EXPECT_EQ(names_in(folder / "c"), (Names{"MANIFEST.json", "config.toml", "optimiser.safetensors", "source.vocab",
                                           "state.json", "weights.safetensors"}));
  for (const file::CheckpointPart& part : back.parts()) {
    EXPECT_EQ(part.size, fs::file_size(folder / "c" / part.name));
    EXPECT_EQ(part.sha256, file::sha256_of_file(folder / "c" / part.name));
  }
  SmallCheckpoint(8).writer.commit(folder / "c");
  EXPECT_EQ(number_of(Checkpoint::open(folder / "c")), 8);
  EXPECT_EQ(names_in(folder.path()), Names{"c"});
}

TEST(Checkpoint, ParametersGoAndComeBack) {
  const TemporaryFolder folder;
  Parameters from(1), to(2);
  for (Parameters* all : {&from, &to}) all->make("layer.weight", {3, 4}, Initialiser::normal(1.0f));
  CheckpointWriter writer;
  writer.add_tensors("weights.safetensors", from);
  from.at("layer.weight").value[0] = 42.0f;  // the writer looks when it writes
  writer.commit(folder / "c");
  Checkpoint::open(folder / "c").load("weights.safetensors", to);
  EXPECT_EQ(from.at("layer.weight").value, to.at("layer.weight").value);
}

TEST(Checkpoint, NamesOfParts) {
  CheckpointWriter writer;
  writer.add_text("a.txt", "");
  expect_error([&] { writer.add_text("a.txt", ""); }, "a checkpoint cannot have two parts with the name 'a.txt'");
  for (const char* name : {"", "../a", ".a", "MANIFEST.json", "a b"})
    expect_error(
        [&] { writer.add_text(name, ""); },
        fmt::format("a part of a checkpoint cannot have the name '{}'; use letters, digits, '.', '_' and '-'", name));
  const TemporaryFolder folder;
  writer.commit(folder / "c");
  const Checkpoint back = Checkpoint::open(folder / "c");
  EXPECT_EQ(back.text("a.txt"), "");
  const std::string where = (folder / "c").string();
  expect_error([&] { back.text("b.txt"); },
               fmt::format("checkpoint '{}' has no part 'b.txt'; did you mean 'a.txt'?", where));
  CheckpointWriter().commit(folder / "c");
  expect_error([&] { Checkpoint::open(folder / "c").state(); },
               fmt::format("checkpoint '{}' has no part 'state.json': it is empty", where));
}

TEST(Checkpoint, DamageIsNamed) {
  const TemporaryFolder folder;
  const fs::path c = folder / "c";
  const auto expect_refused = [&](const std::string& message) {
    expect_error([&] { Checkpoint::open(c); }, message);
    fs::remove_all(c);
    SmallCheckpoint(1).writer.commit(c);
    EXPECT_EQ(number_of(Checkpoint::open(c)), 1);
  };
  const std::string damaged = fmt::format("checkpoint '{}' is damaged: ", c.string());
  expect_refused(fmt::format("there is no checkpoint '{}': no such folder", c.string()));
  fs::remove(c / "MANIFEST.json");
  expect_refused(fmt::format("'{}' is no checkpoint: it has no MANIFEST.json", c.string()));
  spill(c / "MANIFEST.json", "");
  expect_refused(damaged + "MANIFEST.json: it is not valid JSON with a 'format'");
  fs::remove(c / "weights.safetensors");
  expect_refused(damaged + "weights.safetensors is missing");
  spill(c / "config.toml", "number = 1");
  expect_refused(damaged + "config.toml has 10 bytes instead of 11");
  spill(c / "config.toml", "number = 2\n");
  expect_refused(damaged + "config.toml has changed: its SHA-256 is not that of the manifest");
  fs::resize_file(c / "optimiser.safetensors", 1000);
  expect_refused(damaged + "optimiser.safetensors has 1000 bytes instead of 2472");
  fs::remove(c / "state.json");
  fs::create_directory(c / "state.json");
  expect_refused(damaged +
                 fmt::format("cannot read '{}': it is a folder, not an ordinary file", (c / "state.json").string()));
  spill(c / "notes.txt", "what does not belong to it does not matter");
  EXPECT_EQ(number_of(Checkpoint::open(c)), 1);
}

TEST(Checkpoint, AnyChangedBitIsSeen) {
  const TemporaryFolder folder;
  const fs::path c = folder / "c";
  SmallCheckpoint(1, 5).writer.commit(c);
  for (const std::string& name : names_in(c)) {
    const std::string good = slurp(c / name);
    for (size_t at = 0; at < good.size(); ++at) {
      std::string bad = good;
      bad[at] = static_cast<char>(bad[at] ^ (1 << (at % 8)));
      spill(c / name, bad);
      try {
        Checkpoint::open(c);
        // A blank of the manifest that became a tab means the same.
        EXPECT_TRUE(name == "MANIFEST.json" && std::isspace(static_cast<unsigned char>(bad[at])))
            << name << " with another byte " << at;
      } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("is damaged: "), std::string::npos) << error.what();
      }
    }
    spill(c / name, good);
  }
  EXPECT_EQ(number_of(Checkpoint::open(c)), 1);
}

TEST(Checkpoint, ToRunAModelTheOptimiserIsNotRead) {
  const TemporaryFolder folder;
  const fs::path c = folder / "c";
  SmallCheckpoint(1).writer.commit(c);
  std::string bad = slurp(c / file::kOptimiserPart);
  bad.back() = static_cast<char>(bad.back() ^ 1);
  spill(c / file::kOptimiserPart, bad);
  const std::string changed = fmt::format(
      "checkpoint '{}' is damaged: optimiser.safetensors has changed: its SHA-256 is not that of the manifest",
      c.string());
  expect_error([&] { Checkpoint::open(c); }, changed);
  const Checkpoint open = Checkpoint::open(c, file::Purpose::run);
  EXPECT_EQ(open.text("config.toml"), "number = 1\n");
  expect_error([&] { open.tensors(file::kOptimiserPart); }, changed);  // who reads it all the same is told
  spill(c / "config.toml", "number = 2\n");
  expect_error(
      [&] { Checkpoint::open(c, file::Purpose::run); },
      fmt::format("checkpoint '{}' is damaged: config.toml has changed: its SHA-256 is not that of the manifest",
                  c.string()));
}

TEST(Checkpoint, ToRunAModelTheOptimiserNeedNotBeThere) {
  const TemporaryFolder folder;
  const fs::path c = folder / "c";
  SmallCheckpoint(1).writer.commit(c);
  fs::remove(c / file::kOptimiserPart);
  const Checkpoint open = Checkpoint::open(c, file::Purpose::run);
  EXPECT_EQ(open.text("config.toml"), "number = 1\n");
  EXPECT_FALSE(open.has(file::kOptimiserPart));
  expect_error([&] { Checkpoint::open(c); },
               fmt::format("checkpoint '{}' is damaged: optimiser.safetensors is missing; without it the model can be "
                           "run, but not trained on",
                           c.string()));
  fs::remove(c / file::kWeightsPart);
  expect_error([&] { Checkpoint::open(c, file::Purpose::run); },
               fmt::format("checkpoint '{}' is damaged: weights.safetensors is missing", c.string()));
}

TEST(Checkpoint, DamageAfterOpeningIsSeen) {
  const TemporaryFolder folder;
  const fs::path c = folder / "c";
  SmallCheckpoint(1).writer.commit(c);
  const Checkpoint open = Checkpoint::open(c);
  spill(c / "config.toml", "number = 2\n");
  expect_error(
      [&] { open.text("config.toml"); },
      fmt::format("checkpoint '{}' is damaged: config.toml has changed: its SHA-256 is not that of the manifest",
                  c.string()));
}

TEST(Checkpoint, DamageWhileLoadingIsSeen) {
  const TemporaryFolder folder;
  const fs::path c = folder / "c";
  SmallCheckpoint(1).writer.commit(c);
  const Checkpoint open = Checkpoint::open(c);
  const std::string good = slurp(c / "weights.safetensors");
  const auto load = [&] {
    Parameters to(2);
    to.make("w", {300}, Initialiser::constant(0.0f));
    open.load("weights.safetensors", to);
  };
  load();
  const auto damaged = [&](const std::string& what) {
    return fmt::format("checkpoint '{}' is damaged: weights.safetensors {}", c.string(), what);
  };
  const std::string changed = damaged("has changed: its SHA-256 is not that of the manifest");
  for (const size_t at : {size_t{0}, size_t{12}, good.size() - 1}) {  // the size of the header, the header, a number
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 1);
    spill(c / "weights.safetensors", bad);
    expect_error(load, changed);
  }
  spill(c / "weights.safetensors", good.substr(0, 1000));
  expect_error(load, damaged(fmt::format("has 1000 bytes instead of {}", good.size())));
  fs::remove(c / "weights.safetensors");
  EXPECT_THROW(load(), Error);
}

TEST(Checkpoint, ALinkToAnotherFolderIsNotFollowedOut) {
  const TemporaryFolder folder;
  const fs::path c = folder / "c";
  spill(folder / "secret", "x");
  SmallCheckpoint(1).writer.commit(c);
  std::string manifest = slurp(c / "MANIFEST.json");
  manifest.replace(manifest.find("config.toml"), 11, "../secret");
  spill(c / "MANIFEST.json", manifest);
  expect_error(
      [&] { Checkpoint::open(c); },
      fmt::format("checkpoint '{}' is damaged: MANIFEST.json: part 1 must have the name of a file, of letters, "
                  "digits, '.', '_' and '-'",
                  c.string()));
}

TEST(Checkpoint, TheLastGoodOneSurvivesEveryFault) {
  const TemporaryFolder folder;
  const fs::path c = folder / "c";
  SmallCheckpoint(1).writer.commit(c);
  const int calls = fail_at_every_call(
      ENOSPC, [&] { SmallCheckpoint(2).writer.commit(c); },
      [&](const std::string& message) {
        if (!message.empty()) {
          EXPECT_NE(message.find("the disk is full: free some space"), std::string::npos) << message;
        }
        const int64_t number = number_of(Checkpoint::open(c));
        EXPECT_TRUE(number == 1 || number == 2);
        file::clean_leftovers(folder.path());
        EXPECT_EQ(names_in(folder.path()), Names{"c"});
        SmallCheckpoint(1).writer.commit(c);
      });
  EXPECT_GT(calls, 20);
}

/// A small disk of this process's own. False where the system does not allow one: that takes root.
bool mount_small_disk(const fs::path& path) {
  return ::unshare(CLONE_NEWNS) == 0 && ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         ::mount("tmpfs", path.c_str(), "tmpfs", 0, "size=256k") == 0;
}

// A disk that is really full: what fits is written, what does not is reported, and what was there before stays.
TEST(Checkpoint, AFullDisk) {
  const TemporaryFolder folder;
  const pid_t child = ::fork();
  if (child == 0) {
    std::string reason = "disk is full";
    if (!mount_small_disk(folder.path())) {
      // Then files may only become so large; the message is another, the rest is the same.
      reason = "File too large";
      std::signal(SIGXFSZ, SIG_IGN);
      const struct rlimit small = {100'000, 100'000};
      if (::setrlimit(RLIMIT_FSIZE, &small) != 0) ::_exit(2);
    }
    const auto fail = [](const std::string& what) {
      std::cerr << what << "\n";
      ::_exit(1);
    };
    SmallCheckpoint(1).writer.commit(folder / "c");
    for (const int64_t size : {100'000, 1'000'000, 100'000}) try {
        SmallCheckpoint(2, size).writer.commit(folder / "c");
        fail("no error");
      } catch (const Error& error) {
        if (std::string(error.what()).find(reason) == std::string::npos) fail(error.what());
        if (number_of(Checkpoint::open(folder / "c")) != 1) fail("the last good one is gone");
        if (names_in(folder.path()) != Names{"c"}) fail("something was left");
      }
    SmallCheckpoint(3).writer.commit(folder / "c");
    if (number_of(Checkpoint::open(folder / "c")) != 3) fail("nothing can be written afterwards");
    ::_exit(testing::Test::HasFailure() ? 1 : 0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

TEST(Checkpoint, WhatCannotBeWrittenLeavesNothing) {
  const TemporaryFolder folder;
  CheckpointWriter writer;
  writer.add_text("a.txt", "text");
  writer.add_tensors("weights.safetensors", {{"w", {3}, nullptr}});
  expect_error([&] { writer.commit(folder / "c"); }, "cannot write tensor 'w': it has no data");
  EXPECT_EQ(names_in(folder.path()), Names{});
}

}  // namespace
}  // namespace heed::test
