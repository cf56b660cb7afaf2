// Errors as values: the kernel library neither throws nor prints. Running out of memory, on any thread, is reported
// like any other error.
#pragma once

#include <string>
#include <vector>

namespace heed::kernels {

/// The outcome of a call: `ok()`, or every reason why the problem cannot be run, never only the first.
/// Threads: a value; many may read it.
class Status {
 public:
  Status() = default;

  bool ok() const { return reasons_.empty(); }
  explicit operator bool() const { return ok(); }

  /// One entry per error, each naming the field, what was expected and what was given.
  const std::vector<std::string>& reasons() const { return reasons_; }

  /// All reasons in one text, one per line; empty if ok.
  std::string message() const;

  void refuse(std::string reason);

 private:
  std::vector<std::string> reasons_;
};

}  // namespace heed::kernels
