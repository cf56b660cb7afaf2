// Where time goes, by kind of work. Costs a branch while nobody asks.
#pragma once

#include <array>
#include <chrono>

namespace heed {

enum class Work {
  kAttention,  // scores, weights and contexts; without projections
  kProduct,    // matrix products, outside of what has a kind of its own
  kOutput,     // logits, loss and their gradients, products included
  kCell,       // gates of recurrent networks
  kNorm,
  kOptimiser,  // clipping, Adam, averages
};
inline constexpr std::array<const char*, 6> kWorkNames = {"attention", "matrix products",     "output layer",
                                                          "cells",     "layer normalisation", "optimiser"};

/// While one of these lives, what its thread does is counted. One at a time.
class Profile {
 public:
  Profile() { current_ = this; }
  ~Profile() { current_ = nullptr; }
  Profile(const Profile&) = delete;
  Profile& operator=(const Profile&) = delete;

  double seconds(Work work) const { return seconds_[static_cast<size_t>(work)]; }

 private:
  friend class Timed;
  static inline thread_local Profile* current_ = nullptr;
  std::array<double, kWorkNames.size()> seconds_ = {};
  bool busy_ = false;
};

/// Counts from here to the end of the scope. Work inside other work belongs to the outer one.
class Timed {
 public:
  explicit Timed(Work work) : profile_(Profile::current_), work_(work) {
    if (profile_ && profile_->busy_) profile_ = nullptr;
    if (!profile_) return;
    profile_->busy_ = true;
    begin_ = std::chrono::steady_clock::now();
  }
  ~Timed() {
    if (!profile_) return;
    profile_->busy_ = false;
    profile_->seconds_[static_cast<size_t>(work_)] +=
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
