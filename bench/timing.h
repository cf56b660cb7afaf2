// One sample of a contestant. All contestants, peers in other processes too (peers/peer.py), are sampled by this rule.
#pragma once

#include <chrono>
#include <cmath>
#include <thread>

namespace heed::bench {

inline double now_ms() {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Milliseconds per call. A call that takes long enough is a sample by itself; a short one warms up once and is then
/// repeated until the batch lasts as long. So every sample averages over a like span of a noisy machine, and none can
/// pick a quiet moment that is too short for its rival.
constexpr double kSampleMs = 40.0;

/// Before its sample everybody waits until the threads of whoever came before have gone to sleep: those of OpenMP stay
/// awake for 4 to 12 ms, on a core that the next one needs.
constexpr std::chrono::milliseconds kUntilOthersSleep{20};

template <class Call>
double sample_ms(const Call& call) {
  std::this_thread::sleep_for(kUntilOthersSleep);
  double start = now_ms();
  call();
  const double first = now_ms() - start;
  if (first >= kSampleMs) return first;
  const int calls = static_cast<int>(std::ceil(kSampleMs / std::fmax(first, 1e-3)));
  start = now_ms();
  for (int i = 0; i < calls; ++i) call();
  return (now_ms() - start) / calls;
}

}  // namespace heed::bench
