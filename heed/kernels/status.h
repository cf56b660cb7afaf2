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

  /// There was not enough memory. Nothing is allocated to say so.
  static Status no_memory();

  bool ok() const { return !out_of_memory_ && reasons_.empty(); }
  explicit operator bool() const { return ok(); }

  /// Nothing is wrong with the problem: with more memory, the same call may succeed.
  bool out_of_memory() const { return out_of_memory_; }

  /// One entry per error, each naming the field, what was expected and what was given.
  const std::vector<std::string>& reasons() const;

  /// All reasons in one text, one per line; empty if ok.
  std::string message() const;

  void refuse(std::string reason);

 private:
  std::vector<std::string> reasons_;
  bool out_of_memory_ = false;
};

}  // namespace heed::kernels
