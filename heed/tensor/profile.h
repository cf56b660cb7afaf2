// Where time goes, by kind of work. Costs a branch while it is off.
#pragma once

#include <array>
#include <chrono>

namespace heed {

enum class Work {
  attention,  // scores, weights and contexts; without projections
  product,    // matrix products, except those of other kinds
  output,     // logits, loss and their gradients, products included
  cell,       // gates of recurrent networks
  norm,
  optimiser,  // clipping, Adam, averages
};
inline constexpr std::array<const char*, 6> kWorkNames = {"attention", "matrix products",     "output layer",
                                                          "cells",     "layer normalisation", "optimiser"};

/// Seconds by kind of work.
struct Profile {
  std::array<double, kWorkNames.size()> seconds = {};
  double all = 0;  // including work without a kind

  double of(Work work) const { return seconds[static_cast<size_t>(work)]; }
};

/// While it exists, the work of its thread is counted in a profile. One at a time; null: nothing is counted.
/// Threads: belongs to the thread that made it.
class Profiling {
 public:
  explicit Profiling(Profile* profile) : begin_(std::chrono::steady_clock::now()) { current_ = profile; }
  ~Profiling() {
    if (current_) current_->all += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
    current_ = nullptr;
  }
  Profiling(const Profiling&) = delete;
  Profiling& operator=(const Profiling&) = delete;

 private:
  friend class Timed;
  static inline thread_local Profile* current_ = nullptr;
  static inline thread_local bool busy_ = false;  // in work that is counted
  std::chrono::steady_clock::time_point begin_;
};

/// Counts from here to the end of the scope. Nested work belongs to the outer one.
/// Threads: belongs to the thread that made it.
class Timed {
 public:
  explicit Timed(Work work) : profile_(Profiling::busy_ ? nullptr : Profiling::current_), work_(work) {
    if (!profile_) return;
    Profiling::busy_ = true;
    begin_ = std::chrono::steady_clock::now();
  }
  ~Timed() {
    if (!profile_) return;
    Profiling::busy_ = false;
    profile_->seconds[static_cast<size_t>(work_)] +=
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }
  Timed(const Timed&) = delete;
  Timed& operator=(const Timed&) = delete;

 private:
  Profile* profile_;
  Work work_;
  std::chrono::steady_clock::time_point begin_;
};

}  // namespace heed
