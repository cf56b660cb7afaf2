// Rounds of interleaved contestants on a group of cases.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "case.h"

namespace heed::bench {

/// What a peer or a reader needs to know of a case.
nlohmann::json describe(const CaseSpec& spec);

/// Cases that are timed in the same rounds, so that ratios between them, and to sgemm, are taken within the same
/// moments.
class Session {
 public:
  /// Runs everything once and compares. `dump` names a folder for the peers' files, one subfolder per case; may be
  /// empty. Returns per case {"error", "difference", "plain_difference", "path"}, where an error means it is not timed.
  nlohmann::json open(const std::vector<const CaseSpec*>& specs, const std::string& dump);

  /// One sample of every contestant: {"sgemm": ms, "cases": {name: {"heed": ms, "plain": ms, "read": ms}}}.
  nlohmann::json round(int threads);

 private:
  std::vector<std::unique_ptr<Case>> cases_;
  std::vector<bool> plain_agrees_;
  Buffer a_, b_, c_;  // of the sgemm yardstick
  int rounds_ = 0;
};

/// Operations of the yardstick: 2048 x 2048 x 2048.
constexpr int64_t kYardstick = 2048;
constexpr double kYardstickFlops = 2.0 * kYardstick * kYardstick * kYardstick;

}  // namespace heed::bench
