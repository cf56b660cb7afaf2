// Recent speed.
#pragma once

#include <cmath>

namespace heed::train {

/// Amounts per second, exponentially weighted over the last seconds.
class Speed {
 public:
  void add(double amount, double seconds) {
    const double fade = std::exp(-seconds / kMemory);
    amount_ = fade * amount_ + amount;
    seconds_ = fade * seconds_ + seconds;
  }
  double rate() const { return seconds_ > 0 ? amount_ / seconds_ : 0; }

 private:
  static constexpr double kMemory = 10;  // seconds
  double amount_ = 0, seconds_ = 0;
};

}  // namespace heed::train
