// Memory for searches: each has its own tape while it runs, and returns it for the next one.
#pragma once

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "heed/tensor/tape.h"

namespace heed::search {

/// There are as many tapes as were ever in use at a time.
/// Threads: any number may borrow at once.
class TapePool {
 public:
  class Lease {
   public:
    explicit Lease(TapePool& from) : from_(from), tape_(from.take()) {}
    ~Lease() { from_.give_back(std::move(tape_)); }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    Tape& operator*() { return *tape_; }

   private:
    TapePool& from_;
    std::unique_ptr<Tape> tape_;
  };

 private:
  std::unique_ptr<Tape> take() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) return std::make_unique<Tape>(TapeOptions{.recording = false, .training = false});
    std::unique_ptr<Tape> tape = std::move(free_.back());
    free_.pop_back();
    return tape;
  }
  void give_back(std::unique_ptr<Tape> tape) {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(tape));
  }

  std::mutex mutex_;
  std::vector<std::unique_ptr<Tape>> free_;
};

}  // namespace heed::search
