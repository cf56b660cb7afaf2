// What is wrong with a problem, collected while it is checked. No text is built unless something is wrong, since every
// call passes through here.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <utility>

#include "heed/kernels/status.h"

namespace heed::kernels {

/// Largest width of a row.
inline constexpr int64_t kWidest = 1 << 20;

class Reasons {
 public:
  explicit Reasons(Status status) : status_(std::move(status)) {}

  template <class Got>
  void expect(bool good, const char* field, const char* expected, Got got) {
    if (!good) status_.refuse(std::string(field) + ": expected " + expected + ", got " + std::to_string(got));
  }
  void expect(bool good, const char* reason) {
    if (!good) status_.refuse(reason);
  }
  /// `reason()` gives the text.
  template <std::invocable Reason>
  void expect(bool good, Reason reason) {
    if (!good) status_.refuse(reason());
  }

  void refuse(std::string reason) { status_.refuse(std::move(reason)); }

  const Status& status() const { return status_; }

 private:
  Status status_;
};

}  // namespace heed::kernels
