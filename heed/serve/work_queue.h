// Work for the threads that run the models. What waits together and is alike is done together: a search of many lines
// costs less than many searches.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "heed/data/picture.h"

namespace heed::serve {

using Clock = std::chrono::steady_clock;

/// A piece of work.
class Job {
 public:
  virtual ~Job() = default;

  /// Jobs with the same one may be done together; empty: this one is done alone.
  std::string alike = {};
  Clock::time_point deadline = Clock::time_point::max();
  Clock::time_point queued = {};  // set by add()

  /// Nobody waits for it any more.
  virtual bool abandoned() const = 0;
  /// Does all of these, which are alike; this is the first of them. What goes wrong is told to who asked.
  virtual void run(std::span<const std::unique_ptr<Job>> jobs) noexcept = 0;
  /// Its time was over before it could begin.
  virtual void too_late() noexcept = 0;
};

struct WorkLimits {
  int64_t threads = 1;
  int64_t waiting = 256;               // jobs, beyond those that are being done
  int64_t together = 32;               // jobs that are done in one go
  int64_t pixels = data::kMostPixels;  // of a picture in a job
};

/// Only the constructor and add() ask for memory: a thread that could not go on for lack of it would be lost.
/// Threads: any.
class WorkQueue {
 public:
  /// `done`: called by a thread after each go, with the number of jobs in it.
  explicit WorkQueue(const WorkLimits& limits, std::function<void(size_t)> done = {});
  /// Drops what waits; what is being done is interrupted.
  ~WorkQueue();
  WorkQueue(const WorkQueue&) = delete;
  WorkQueue& operator=(const WorkQueue&) = delete;

  /// All of them, or none: false if there is no room. Throws std::bad_alloc, and adds none, if there is no memory.
  bool add(std::vector<std::unique_ptr<Job>> jobs);

  int64_t waiting() const;
  int64_t running() const;  // jobs

 private:
  using Jobs = std::vector<std::unique_ptr<Job>>;

  void work(Jobs jobs);
  void stop();
  void take(Jobs& jobs);

  WorkLimits limits_;
  std::function<void(size_t)> done_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::list<std::unique_ptr<Job>> queue_;
  int64_t running_ = 0;
  std::atomic<bool> stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace heed::serve
