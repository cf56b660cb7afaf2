// Errors as values: the kernel library neither throws nor prints. Lack of memory, on whatever thread, is a reason like
// any other.
#pragma once

#include <string>
#include <vector>

namespace heed::kernels {

/// What came of a call. `ok()` or every reason why the problem cannot be run, never only the first.
/// Threads: a value; many may read it.
class Status {
 public:
  Status() = default;

  bool ok() const { return reasons_.empty(); }
  explicit operator bool() const { return ok(); }

  /// One entry per thing that is wrong, each naming the field, what was expected and what came.
  const std::vector<std::string>& reasons() const { return reasons_; }

  /// All reasons in one text, a line each; empty when ok.
  std::string message() const;

  void refuse(std::string reason);

 private:
  std::vector<std::string> reasons_;
};

}  // namespace heed::kernels
