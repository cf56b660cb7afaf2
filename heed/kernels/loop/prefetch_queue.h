// Memory that will be needed soon. Code that knows what comes next puts it here. The products, which leave the memory
// idle, prefetch some of it with every step: as many bytes as the memory can deliver in the time of the step. A burst
// of requests would stall instead.
#pragma once

#include <cstddef>

namespace heed::kernels {

class PrefetchQueue {
 public:
  static constexpr size_t kLine = 64;  // bytes

  struct Steps {
    const char* at;
    size_t step;  // bytes from one request to the next, or 0 if there is nothing to prefetch
  };

  void clear() { count_ = next_ = 0; }
  void add(const void* data, size_t bytes) {
    if (count_ < kMost && bytes > 0)
      ranges_[count_++] = {static_cast<const char*>(data), static_cast<const char*>(data) + bytes};
  }

  /// What to prefetch in the next `steps` steps, `pace` bytes with each; `idle` is any address that is already in the
  /// cache.
  Steps take(size_t steps, size_t pace, const void* idle) {
    if (next_ == count_) return {static_cast<const char*>(idle), 0};
    Range& range = ranges_[next_];
    const Steps taken{range.at, pace};
    range.at += steps * pace;
    if (range.at >= range.end) ++next_;
    return taken;
  }

  static PrefetchQueue& of_this_thread() {
    static thread_local PrefetchQueue ahead;
    return ahead;
  }

 private:
  struct Range {
    const char* at;
    const char* end;
  };
  static constexpr int kMost = 8;
  Range ranges_[kMost] = {};
  int count_ = 0;
  int next_ = 0;
};

}  // namespace heed::kernels
