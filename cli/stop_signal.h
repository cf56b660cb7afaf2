// Ctrl-C, kill and a closed terminal: the first asks for an end in good order, the second ends at once.
#pragma once

#include <atomic>
#include <csignal>

namespace heed::cli {

/// While it lives, SIGINT, SIGTERM and SIGHUP (the terminal was closed) are kept as a wish. One at a time.
class StopSignal {
 public:
  StopSignal() {
    flag() = false;
    for (const int signal : kSignals) {
      // nohup has said that a closed terminal is to be ignored. An ignored SIGINT says only that a script started this
      // in the background; who sends it means it.
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
    // A terminal that is closed sends SIGHUP, and so does its shell: the second of these is no second wish.
    std::signal(signal, signal == SIGHUP ? SIG_IGN : SIG_DFL);
  }
  static_assert(std::atomic<bool>::is_always_lock_free, "a signal may only touch what needs no lock");
};

}  // namespace heed::cli
