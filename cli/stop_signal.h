// Ctrl-C, kill and a closed terminal: the first signal asks for an orderly end, the second ends at once.
#pragma once

#include <atomic>
#include <csignal>

namespace heed::cli {

/// While it lives, SIGINT, SIGTERM and SIGHUP (the terminal was closed) only set a flag. One at a time.
class StopSignal {
 public:
  StopSignal() {
    flag() = false;
    for (const int signal : kSignals) {
      // With nohup, a closed terminal stays ignored. An ignored SIGINT only means that a script started this in the
      // background; if one arrives, it is meant.
      const auto before = std::signal(signal, remember);
      if (signal == SIGHUP && before == SIG_IGN) std::signal(signal, SIG_IGN);
    }
  }
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;
  ~StopSignal() {
    for (const int signal : kSignals)
      if (std::signal(signal, SIG_DFL) == SIG_IGN) std::signal(signal, SIG_IGN);
  }

  const std::atomic<bool>& asked() const { return flag(); }

 private:
  static constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};
  static std::atomic<bool>& flag() {
    static std::atomic<bool> asked = false;
    return asked;
  }
  static void remember(int signal) {
    flag() = true;
    // Both a closed terminal and its shell send SIGHUP: the second one does not ask for an immediate end.
    std::signal(signal, signal == SIGHUP ? SIG_IGN : SIG_DFL);
  }
  static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may only use lock-free atomics");
};

}  // namespace heed::cli
