// Faults of the disk, one after the other, at every call that changes it.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "heed/base/disk.h"
#include "heed/base/error.h"

namespace heed::test {

/// Runs `write` repeatedly; the first time its first call fails with `error`, then its second, until a run has no
/// such call. After each failed one, `check(message)`. Returns how many there were.
inline int fail_at_every_call(int error, const std::function<void()>& write,
                              const std::function<void(const std::string&)>& check) {
  for (int at = 0;; ++at) {
    int calls = 0;
    std::string failed;
    file::disk_fault() = [&](std::string_view call, const std::filesystem::path&) {
      if (calls++ != at) return 0;
      failed = call;
      return error;
    };
    std::string message;
    try {
      write();
    } catch (const Error& e) {
      message = e.what();
    }
    file::disk_fault() = nullptr;
    if (failed.empty()) return at;
    SCOPED_TRACE("call " + std::to_string(at) + ", " + failed);
    // What cannot be removed stays as a leftover; that is no reason to stop a training.
    if (failed != "remove") {
      EXPECT_NE(message, "");
    }
    check(message);
  }
}

/// The same in a child that is killed by SIGKILL instead of the call. Returns how many were killed.
inline int kill_at_every_call(const std::function<void()>& write, const std::function<void()>& check) {
  for (int at = 0;; ++at) {
    const pid_t child = ::fork();
    if (child == 0) {
      int calls = 0;
      file::disk_fault() = [&](std::string_view, const std::filesystem::path&) {
        if (calls++ == at) ::raise(SIGKILL);
        return 0;
      };
      try {
        write();
        ::_exit(0);
      } catch (...) {
        ::_exit(1);
      }
    }
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    if (!WIFSIGNALED(status)) {
      EXPECT_EQ(WEXITSTATUS(status), 0) << "the writer failed without a fault";
      return at;
    }
    SCOPED_TRACE("killed at call " + std::to_string(at));
    check();
  }
}

}  // namespace heed::test
