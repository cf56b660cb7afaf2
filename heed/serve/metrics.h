// Counts and times of requests, as Prometheus reads them.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>

namespace heed::serve {

/// Values in ranges: how many were at most each bound.
class Histogram {
 public:
  static constexpr std::array<double, 14> kSeconds = {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1,
                                                      0.25,  0.5,    1,     2.5,  5,     10,   30};
  void add(double value);
  /// Its lines; `labels` without braces, or empty.
  std::string text(const std::string& name, const std::string& labels) const;

 private:
  std::array<uint64_t, kSeconds.size()> counts_{};
  uint64_t count_ = 0;
  double sum_ = 0;
};

/// Threads: any.
class Metrics {
 public:
  /// `route`: a path that exists, or "other": what clients invent must not grow this.
  void add_request(const std::string& route, int status, double seconds);
  void add_cut() { add(cut_); }  // the client left before it had the answer
  void add_lines(uint64_t lines, uint64_t tokens);
  void add_go(uint64_t jobs);
  void add_reload(bool good) { add(good ? reloads_ : failed_reloads_); }

  /// Values at this moment.
  struct Gauges {
    int64_t connections = 0, waiting = 0, running = 0;
    std::map<std::string, uint64_t> versions = {};  // of the models
  };
  std::string text(const Gauges& now) const;

 private:
  void add(uint64_t& counter, uint64_t by = 1) {
    const std::lock_guard lock(mutex_);
    counter += by;
  }

  mutable std::mutex mutex_;
  std::map<std::pair<std::string, int>, uint64_t> requests_;
  std::map<std::string, Histogram> seconds_;
  uint64_t cut_ = 0, lines_ = 0, tokens_ = 0, goes_ = 0, jobs_ = 0, reloads_ = 0, failed_reloads_ = 0;
};

}  // namespace heed::serve
