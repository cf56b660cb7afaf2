// Rounds of interleaved contestants on a group of cases.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "buffer.h"
#include "contest.h"

namespace heed::bench {

/// Every name that make_contest() knows: the cases of case.cc, the decoding grid among them, then two for each
/// mechanism of heed/attend.
std::vector<std::string> all_names();
/// Null where there is no such case.
std::unique_ptr<Contest> make_contest(const std::string& name);

/// Cases that are timed in the same rounds, so that ratios between them, and to sgemm, are taken within the same
/// moments.
class Session {
 public:
  /// Runs everything once and compares. `dump` names a folder for the peers' files, one subfolder per case; may be
  /// empty. Returns what is known of each case, where an error means it is not timed.
  nlohmann::json open(const std::vector<std::string>& names, const std::string& dump);

  /// One sample of every contestant: {"sgemm": ms, "cases": {name: {"heed": ms, "plain": ms, "read": ms}}}.
  nlohmann::json round(int threads);

 private:
  void make_yardstick();

  std::vector<std::unique_ptr<Contest>> contests_;
  Buffer a_, b_, c_;  // of the sgemm yardstick
  int rounds_ = 0;
};

/// Operations of the yardstick: 2048 x 2048 x 2048.
constexpr int64_t kYardstick = 2048;
constexpr double kYardstickFlops = 2.0 * kYardstick * kYardstick * kYardstick;

}  // namespace heed::bench
