// How many requests each client has under way.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace heed::serve {

/// Threads: any.
class Clients {
 public:
  /// Counts one more of this address until the result is destroyed; null if there are `most` already.
  std::shared_ptr<const void> enter(const std::string& address, int64_t most) {
    const std::lock_guard lock(counts_->mutex);
    if (counts_->of[address] >= most) return nullptr;
    ++counts_->of[address];
    return {counts_.get(), [counts = counts_, address](const void*) {
              const std::lock_guard leaving(counts->mutex);
              if (--counts->of[address] == 0) counts->of.erase(address);
            }};
  }

 private:
  struct Counts {
    std::mutex mutex;
    std::map<std::string, int64_t> of;
  };
  std::shared_ptr<Counts> counts_ = std::make_shared<Counts>();
};

}  // namespace heed::serve
