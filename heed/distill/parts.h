// What is done of a long work, in parts that are there completely or not at all: a work that is stopped goes on where
// it was.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace heed::distill {

/// A target, and where it comes from.
struct Target {
  std::string text;
  bool kept = false;  // as it was, not from the teacher
};

class Parts {
 public:
  /// `work`: names what is done, so that the parts of another work are not taken for it; no line ends in it.
  Parts(std::filesystem::path folder, std::string work) : folder_(std::move(folder)), work_(std::move(work)) {}

  /// The `count` targets from number `first` on, if they are done as one part; a damaged one is not. Throws if it is of
  /// another work.
  std::optional<std::vector<Target>> load(int64_t first, int64_t count) const;
  void save(int64_t first, const std::vector<Target>& targets) const;
  void remove() const;  // all of them

 private:
  std::filesystem::path path_of(int64_t first) const;

  std::filesystem::path folder_;
  std::string work_;
};

}  // namespace heed::distill
