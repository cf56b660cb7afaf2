#include "heed/serve/work_queue.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "heed/kernels/interrupt.h"
#include "heed/kernels/one_thread.h"

namespace heed::serve {

namespace {

/// What a thread is doing, for the question whether it should go on.
struct Current {
  std::span<const std::unique_ptr<Job>> jobs;
  Clock::time_point deadline;
  const std::atomic<bool>& stopping;
};
thread_local const Current* current = nullptr;

/// As long as one of those who asked still waits, and has time.
bool should_stop() {
  if (current->stopping || Clock::now() > current->deadline) return true;
  return std::all_of(current->jobs.begin(), current->jobs.end(),
                     [](const std::unique_ptr<Job>& job) { return job->abandoned(); });
}

}  // namespace

WorkQueue::WorkQueue(const WorkLimits& limits, std::function<void(size_t)> done)
    : limits_(limits), done_(std::move(done)) {
  limits_.together = std::max<int64_t>(limits_.together, 1);
  try {
    for (int64_t i = 0; i < limits_.threads; ++i) {
      Jobs jobs;
      jobs.reserve(static_cast<size_t>(limits_.together));
      threads_.emplace_back([this, mine = std::move(jobs)]() mutable { work(std::move(mine)); });
    }
  } catch (...) {
    stop();
    throw;
  }
}

WorkQueue::~WorkQueue() { stop(); }

void WorkQueue::stop() {
  std::list<std::unique_ptr<Job>> dropped;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    dropped.swap(queue_);
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

bool WorkQueue::add(std::vector<std::unique_ptr<Job>> jobs) {
  const auto now = Clock::now();
  for (const auto& job : jobs) job->queued = now;
  std::list<std::unique_ptr<Job>> added;
  std::move(jobs.begin(), jobs.end(), std::back_inserter(added));
  {
    const std::lock_guard lock(mutex_);
    const int64_t free = limits_.threads - std::min(limits_.threads, running_);
    if (stopping_ || std::ssize(queue_) + std::ssize(added) > limits_.waiting + free) return false;
    queue_.splice(queue_.end(), added);
  }
  jobs.size() == 1 ? changed_.notify_one() : changed_.notify_all();
  return true;
}

int64_t WorkQueue::waiting() const {
  const std::lock_guard lock(mutex_);
  return std::ssize(queue_);
}
int64_t WorkQueue::running() const {
  const std::lock_guard lock(mutex_);
  return running_;
}

/// The oldest, and those like it: a fair share of what waits, so that the other threads have something to do.
void WorkQueue::take(Jobs& jobs) {
  const int64_t share = (std::ssize(queue_) + limits_.threads - 1) / limits_.threads;
  const int64_t most = std::min(limits_.together, share);
  jobs.push_back(std::move(queue_.front()));
  queue_.pop_front();
  if (const std::string& alike = jobs.front()->alike; !alike.empty())
    for (auto job = queue_.begin(); job != queue_.end() && std::ssize(jobs) < most;) {
      if ((*job)->alike != alike) {
        ++job;
        continue;
      }
      jobs.push_back(std::move(*job));
      job = queue_.erase(job);
    }
}

/// `jobs`: empty, with room for as many as are done together.
void WorkQueue::work(Jobs jobs) {
  const kernels::OneThread alone;  // the threads are these: each works on its own
  const data::PixelLimit pixels(limits_.pixels);
  while (true) {
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return stopping_ || !queue_.empty(); });
      if (stopping_) return;
      take(jobs);
      running_ += std::ssize(jobs);
    }
    const int64_t taken = std::ssize(jobs);
    const auto now = Clock::now();
    std::erase_if(jobs, [&](const std::unique_ptr<Job>& job) {
      if (!job->abandoned() && now <= job->deadline) return false;
      if (!job->abandoned()) job->too_late();
      return true;
    });
    if (!jobs.empty()) {
      const auto latest = std::max_element(jobs.begin(), jobs.end(),
                                           [](const auto& a, const auto& b) { return a->deadline < b->deadline; });
      const Current mine{jobs, (*latest)->deadline, stopping_};
      current = &mine;
      const kernels::Interruptible interruptible(should_stop);
      jobs.front()->run(jobs);
      if (done_) done_(jobs.size());
    }
    jobs.clear();
    const std::lock_guard lock(mutex_);
    running_ -= taken;
  }
}

}  // namespace heed::serve
