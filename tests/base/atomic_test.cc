#include "heed/base/atomic.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <string>
#include <vector>

#include "tests/base/temporary.h"
#include "tests/checkpoint/faults.h"
#include "tests/tensor/gradient_check.h"

namespace heed::test {
namespace {

using Names = std::vector<std::string>;

/// A folder with two files that say the same.
void write_pair(const fs::path& target, const std::string& text) {
  file::FolderWriter writer(target);
  for (const char* name : {"one", "two"}) {
    file::OutputFile file = writer.create(name);
    file.write(text);
    file.finish();
  }
  writer.commit();
}

TEST(Atomic, AFileIsWrittenAndReplaced) {
  const TemporaryFolder folder;
  file::write_file(folder / "a", "one");
  EXPECT_EQ(slurp(folder / "a"), "one");
  file::write_file(folder / "a", std::string(3'000'000, 'x'));
  EXPECT_EQ(slurp(folder / "a"), std::string(3'000'000, 'x'));
  file::write_file(folder / "a", "");
  EXPECT_EQ(slurp(folder / "a"), "");
  EXPECT_EQ(names_in(folder.path()), Names{"a"});
}

TEST(Atomic, AFolderIsWrittenAndReplaced) {
  const TemporaryFolder folder;
  const fs::path target = folder / "deep" / "er" / "target";
  write_pair(target, "old");
  EXPECT_EQ(names_in(target), (Names{"one", "two"}));
  write_pair(target, "new");
  EXPECT_EQ(slurp(target / "one"), "new");
  EXPECT_EQ(slurp(target / "two"), "new");
  EXPECT_EQ(names_in(target.parent_path()), Names{"target"}) << "the old one must be gone";
}

TEST(Atomic, WithoutExchangeOfNamesAFolderIsReplacedToo) {
  const TemporaryFolder folder;
  write_pair(folder / "t", "old");
  file::disk_fault() = [](std::string_view call, const fs::path&) { return call == "swap" ? EINVAL : 0; };
  write_pair(folder / "t", "new");
  EXPECT_EQ(slurp(folder / "t" / "two"), "new");
  EXPECT_EQ(names_in(folder.path()), Names{"t"});
}

TEST(Atomic, NothingStaysOfWhatWasNotCommitted) {
  const TemporaryFolder folder;
  {
    file::FolderWriter writer(folder / "t");
    file::OutputFile file = writer.create("one");
    file.write("text");
    EXPECT_EQ(names_in(folder.path()), Names{".t.partial-" + std::to_string(::getpid())});
  }
  EXPECT_EQ(names_in(folder.path()), Names{});
  EXPECT_THROW(file::write_file(folder / "f", [](file::OutputFile&) { throw Error("changed my mind"); }), Error);
  EXPECT_EQ(names_in(folder.path()), Names{});
}

// What matters after a power cut: each file before its folder, the folder before the rename, and then the folder above.
TEST(Atomic, TheOrderOfTheCalls) {
  const TemporaryFolder folder;
  const std::string partial = ".t.partial-" + std::to_string(::getpid());
  Names calls;
  file::disk_fault() = [&](std::string_view call, const fs::path& path) {
    calls.push_back(std::string(call) + " " + fs::relative(path, folder.path()).string());
    return 0;
  };
  write_pair(folder / "t", "x");
  EXPECT_EQ(calls, (Names{"make " + partial, "create " + partial + "/one", "write " + partial + "/one",
                          "sync " + partial + "/one", "create " + partial + "/two", "write " + partial + "/two",
                          "sync " + partial + "/two", "sync " + partial, "rename t", "sync ."}));
  calls.clear();
  file::write_file(folder / "f", "x");
  const std::string aside = ".f.partial-" + std::to_string(::getpid());
  EXPECT_EQ(calls, (Names{"create " + aside, "write " + aside, "sync " + aside, "rename f", "sync ."}));
}

TEST(Atomic, AFileSurvivesEveryFault) {
  const TemporaryFolder folder;
  for (const int error : {ENOSPC, EIO}) {
    file::write_file(folder / "f", "old");
    const int calls = fail_at_every_call(
        error, [&] { file::write_file(folder / "f", "new"); },
        [&](const std::string&) {
          const std::string text = slurp(folder / "f");
          EXPECT_TRUE(text == "old" || text == "new") << text;
          EXPECT_EQ(names_in(folder.path()), Names{"f"});
        });
    EXPECT_EQ(calls, 5);
  }
}

/// Writes the pair "new" over the old one, where the file system can exchange names and where it cannot.
void replace_pair(const TemporaryFolder& folder, bool can_swap) {
  if (!can_swap)
    file::disk_fault() = [fault = file::disk_fault()](std::string_view call, const fs::path& path) {
      return call == "swap" ? EINVAL : fault(call, path);
    };
  write_pair(folder / "t", "new");
}

/// One of the two pairs is there, whole, and nothing else. Afterwards it is the old one again.
void expect_whole_pair(const TemporaryFolder& folder) {
  file::clean_leftovers(folder.path());
  const std::string text = slurp(folder / "t" / "one");
  EXPECT_TRUE(text == "old" || text == "new") << text;
  EXPECT_EQ(slurp(folder / "t" / "two"), text) << "half old, half new";
  EXPECT_EQ(names_in(folder.path()), Names{"t"});
  write_pair(folder / "t", "old");
}

TEST(Atomic, AFolderSurvivesEveryFault) {
  const TemporaryFolder folder;
  for (const bool can_swap : {true, false}) {
    write_pair(folder / "t", "old");
    const int calls = fail_at_every_call(
        ENOSPC, [&] { replace_pair(folder, can_swap); }, [&](const std::string&) { expect_whole_pair(folder); });
    EXPECT_EQ(calls, can_swap ? 11 : 12);
  }
}

TEST(Atomic, AFolderSurvivesKillAtEveryCall) {
  const TemporaryFolder folder;
  for (const bool can_swap : {true, false}) {
    write_pair(folder / "t", "old");
    const int calls = kill_at_every_call([&] { replace_pair(folder, can_swap); }, [&] { expect_whole_pair(folder); });
    EXPECT_EQ(calls, can_swap ? 11 : 12);
  }
}

TEST(Atomic, MessagesSayWhatToDo) {
  const TemporaryFolder folder;
  const std::string path = (folder / (".f.partial-" + std::to_string(::getpid()))).string();
  const auto expect_message = [&](int error, const std::string& message) {
    file::disk_fault() = [&](std::string_view call, const fs::path&) { return call == "write" ? error : 0; };
    expect_error([&] { file::write_file(folder / "f", "x"); }, fmt::format("cannot write '{}': {}", path, message));
  };
  expect_message(ENOSPC, "No space left on device; the disk is full: free some space or choose another folder");
  expect_message(EDQUOT, "Disk quota exceeded; the disk is full: free some space or choose another folder");
  expect_message(EFBIG, "File too large; the file is larger than the limit of this system allows (ulimit -f)");
  expect_message(EIO, "Input/output error; the disk may be failing: copy what is on it");
  file::disk_fault() = [&](std::string_view call, const fs::path&) { return call == "create" ? EROFS : 0; };
  expect_error(
      [&] { file::write_file(folder / "f", "x"); },
      fmt::format("cannot create '{}': Read-only file system; the disk is read-only: choose another folder", path));
  file::disk_fault() = [&](std::string_view call, const fs::path&) { return call == "make" ? EACCES : 0; };
  expect_error(
      [&] { file::FolderWriter(folder / "f"); },
      fmt::format("cannot make the folder '{}': Permission denied; you may not write there: choose another folder, "
                  "or change its owner",
                  path));
  file::disk_fault() = nullptr;
  expect_error([&] { file::write_file(folder / "no" / "f", "x"); },
               fmt::format("cannot create '{}': No such file or directory",
                           (folder / "no" / (".f.partial-" + std::to_string(::getpid()))).string()));
  spill(folder / "file", "");
  expect_error([&] { file::FolderWriter(folder / "file" / "t"); },
               fmt::format("cannot make the folder '{}': Not a directory", (folder / "file").string()));
  expect_error([&] { file::write_file("..", "x"); }, "cannot write '..': a name is needed");
}

// A limit of the system, not of a hook: the largest file that this process may write.
TEST(Atomic, ARealLimit) {
  const TemporaryFolder folder;
  file::write_file(folder / "f", "old");
  struct rlimit before {};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const struct rlimit small = {10000, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  std::string message;
  try {
    file::write_file(folder / "f", std::string(1'000'000, 'x'));
  } catch (const Error& error) {
    message = error.what();
  }
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);
  EXPECT_NE(message.find("File too large"), std::string::npos) << message;
  EXPECT_EQ(slurp(folder / "f"), "old");
  EXPECT_EQ(names_in(folder.path()), Names{"f"});
}

TEST(Atomic, LeftoversAreRemovedAndNothingElse) {
  const TemporaryFolder folder;
  for (const char* name : {".t.partial-1", ".t.removed-77", ".t.partial-1-2", ".t.partial", "t.partial-1", ".hidden"})
    fs::create_directories(folder / name / "deep");
  spill(folder / ".f.partial-123", "half");
  spill(folder / "f", "whole");
  const file::FolderWriter writing(folder / "now");
  EXPECT_EQ(file::clean_leftovers(folder.path()),
            (Names{".f.partial-123", ".t.partial-1", ".t.partial-1-2", ".t.removed-77"}));
  EXPECT_EQ(names_in(folder.path()),
            (Names{".hidden", ".now.partial-" + std::to_string(::getpid()), ".t.partial", "f", "t.partial-1"}));
  EXPECT_EQ(file::clean_leftovers(folder / "no such folder"), Names{});
}

TEST(Atomic, AReplacedFolderTakesItsNameBack) {
  const TemporaryFolder folder;
  for (const char* name : {".a.replaced-1", ".b.replaced-1", "b"}) fs::create_directories(folder / name);
  EXPECT_EQ(file::clean_leftovers(folder.path()), Names{".b.replaced-1"});
  EXPECT_EQ(names_in(folder.path()), (Names{"a", "b"}));
}

TEST(Atomic, AProcessMayHaveTheIdOfOneThatWasKilled) {
  const TemporaryFolder folder;
  const std::string own = ".t.partial-" + std::to_string(::getpid());
  fs::create_directories(folder / own);
  write_pair(folder / "t", "x");
  EXPECT_EQ(names_in(folder.path()), (Names{own, "t"}));
  EXPECT_EQ(file::clean_leftovers(folder.path()), Names{own});
}

TEST(Atomic, RemovingAFolder) {
  const TemporaryFolder folder;
  write_pair(folder / "t", "x");
  const int killed = kill_at_every_call([&] { file::remove_folder(folder / "t"); },
                                        [&] {
                                          file::clean_leftovers(folder.path());
                                          if (fs::exists(folder / "t")) {
                                            EXPECT_EQ(names_in(folder / "t"), (Names{"one", "two"}));
                                          }
                                          write_pair(folder / "t", "x");
                                        });
  EXPECT_EQ(killed, 2);
  EXPECT_EQ(names_in(folder.path()), Names{});
  expect_error([&] { file::remove_folder(folder / "t"); },
               fmt::format("cannot write '{}': No such file or directory",
                           (folder / (".t.removed-" + std::to_string(::getpid()))).string()));
}

TEST(Disk, TextThatIsTooLong) {
  const TemporaryFolder folder;
  spill(folder / "f", "12345");
  EXPECT_EQ(file::read_text(folder / "f", 5), "12345");
  expect_error([&] { file::read_text(folder / "f", 4); },
               fmt::format("cannot read '{}': it has 5 bytes, and at most 4 are expected", (folder / "f").string()));
}

TEST(Disk, APipeDoesNotBlock) {
  const TemporaryFolder folder;
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  expect_error(
      [&] { file::read_text(folder / "pipe"); },
      fmt::format("cannot read '{}': it is a device or a pipe, not an ordinary file", (folder / "pipe").string()));
}

TEST(Disk, AFileThatShrinks) {
  const TemporaryFolder folder;
  spill(folder / "f", "12345");
  file::InputFile file(folder / "f");
  fs::resize_file(folder / "f", 2);
  std::vector<std::byte> bytes(5);
  expect_error([&] { file.read(bytes); },
               fmt::format("cannot read '{}': it became shorter while it was read", (folder / "f").string()));
}

// --------------------------------------------------------------------------------------- what is no ordinary file

TEST(WriteThrough, ALinkStaysAndWhatItLeadsToIsWritten) {
  const TemporaryFolder folder;
  spill(folder / "file", "old");
  fs::create_directory(folder / "below");
  fs::create_symlink("../file", folder / "below" / "link");
  fs::create_symlink("below/link", folder / "twice");
  file::write_file(folder / "twice", "new");
  EXPECT_EQ(slurp(folder / "file"), "new");
  EXPECT_TRUE(fs::is_symlink(folder / "twice"));
  EXPECT_TRUE(fs::is_symlink(folder / "below" / "link"));

  fs::create_symlink("not there", folder / "dangling");
  file::write_file(folder / "dangling", "first");
  EXPECT_TRUE(fs::is_symlink(folder / "dangling"));
  EXPECT_EQ(slurp(folder / "not there"), "first");
  EXPECT_EQ(names_in(folder.path()), (Names{"below", "dangling", "file", "not there", "twice"}));

  fs::create_symlink("b", folder / "a");
  fs::create_symlink("a", folder / "b");
  EXPECT_THROW(file::write_file(folder / "a", "x"), Error);
  EXPECT_TRUE(fs::is_symlink(folder / "a") && fs::is_symlink(folder / "b"));
}

/// A device of the test's own, where this user may make one: a fault would replace that of the system. Who may not make
/// one may not replace one either.
fs::path device(const fs::path& mine, const char* system, unsigned minor) {
  const bool made = ::mknod(mine.c_str(), S_IFCHR | 0666, makedev(1, minor)) == 0;
  const int descriptor = made ? ::open(mine.c_str(), O_WRONLY) : -1;  // not every disk may have devices
  if (descriptor >= 0) ::close(descriptor);
  return descriptor >= 0 ? mine : fs::path(::geteuid() == 0 ? "" : system);
}

TEST(WriteThrough, Devices) {
  const TemporaryFolder folder;
  const fs::path null = device(folder / "null", "/dev/null", 3), full = device(folder / "full", "/dev/full", 7);
  if (null.empty() || full.empty()) GTEST_SKIP() << "no devices here";
  file::write_file(null, "x");
  EXPECT_TRUE(fs::is_character_file(null));
  fs::create_symlink(full, folder / "link");
  for (const fs::path& name : {full, folder / "link"}) {
    std::string said;
    try {
      file::write_file(name, "x");
    } catch (const Error& error) {
      said = error.what();
    }
    EXPECT_NE(said.find("No space left"), std::string::npos) << said;
  }
  EXPECT_TRUE(fs::is_character_file(full));
  EXPECT_TRUE(fs::is_symlink(folder / "link"));
}

TEST(WriteThrough, APipe) {
  const TemporaryFolder folder;
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  const int reader = ::open((folder / "pipe").c_str(), O_RDONLY | O_NONBLOCK);
  file::write_file(folder / "pipe", "through");
  char bytes[20];
  EXPECT_EQ(std::string(bytes, static_cast<size_t>(::read(reader, bytes, sizeof bytes))), "through");
  ::close(reader);
  EXPECT_TRUE(fs::is_fifo(folder / "pipe"));
}

TEST(WriteThrough, WhatStandardErrorGoesToIsNotOverwritten) {
  const TemporaryFolder folder;
  fs::create_symlink("/proc/self/fd/2", folder / "stderr");  // as /dev/stderr is
  std::fflush(stderr);
  const int before = ::dup(STDERR_FILENO);
  const int file = ::open((folder / "log").c_str(), O_WRONLY | O_CREAT, 0600);
  ::dup2(file, STDERR_FILENO);
  ::close(file);
  std::fputs("one ", stderr);
  file::write_file(folder / "log", "two ");
  file::write_file(folder / "stderr", "three ");
  std::fputs("four", stderr);
  ::dup2(before, STDERR_FILENO);
  ::close(before);
  EXPECT_EQ(slurp(folder / "log"), "one two three four");
}

TEST(WriteThrough, AFolderIsRefused) {
  const TemporaryFolder folder;
  expect_error([&] { file::write_file(folder.path(), "x"); },
               fmt::format("cannot write '{}': Is a directory", folder.path().string()));
}

}  // namespace
}  // namespace heed::test
