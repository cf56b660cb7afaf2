// One row of the benchmark: something that heed runs, and its rivals in this process.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace heed::bench {

/// A result that differs by more than this share of its largest element is wrong, and its time does not count.
constexpr double kAgreement = 1e-4;

class Contest {
 public:
  virtual ~Contest() = default;

  virtual const std::string& name() const = 0;
  /// What a peer or a reader needs to know.
  virtual nlohmann::json describe() const = 0;
  /// Runs everybody once and compares: adds "difference", "plain_difference", "path", or "error" where heed's own
  /// result is wrong, which is then not timed.
  virtual void check(nlohmann::json& about) = 0;
  /// "heed" and its rivals: what each does in a sample, with this many threads.
  using Contestant = std::pair<std::string, std::function<void(int)>>;
  virtual std::vector<Contestant> contestants() = 0;
  /// Writes inputs and heed's results as .npy files for the peers.
  virtual bool dump(const std::string& directory) = 0;
  /// Whether it is measured in shares of sgemm.
  virtual bool wants_sgemm() const { return true; }
};

}  // namespace heed::bench
