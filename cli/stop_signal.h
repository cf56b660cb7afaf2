// Ctrl-C and kill: the first asks for an end in good order, the second ends at once.
#pragma once

#include <atomic>
#include <csignal>

namespace heed::cli {

/// While it lives, SIGINT and SIGTERM are kept as a wish. One at a time.
class StopSignal {
 public:
  StopSignal() {
    flag() = false;
    for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, remember);
  }
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;
  ~StopSignal() {
    for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, SIG_DFL);
  }

  const std::atomic<bool>& asked() const { return flag(); }

 private:
  static std::atomic<bool>& flag() {
    static std::atomic<bool> asked = false;
    return asked;
  }
  static void remember(int signal) {
    flag() = true;
    std::signal(signal, SIG_DFL);
  }
  static_assert(std::atomic<bool>::is_always_lock_free, "a signal may only touch what needs no lock");
};

}  // namespace heed::cli
