// What the layers above the kernels throw. The message names the operation, what was expected, what came, and a hint.
#pragma once

#include <fmt/format.h>

#include <exception>
#include <stdexcept>
#include <string>
#include <utility>

namespace heed {

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The caller wanted no more (kernels/interrupt.h). Not an Error: nothing is wrong, and nobody is to try again.
class Interrupted : public std::exception {
 public:
  const char* what() const noexcept override { return "interrupted"; }
};

/// Throws Error with the formatted message unless `condition` holds.
template <class... Args>
void expect(bool condition, fmt::format_string<Args...> message, Args&&... args) {
  if (!condition) throw Error(fmt::format(message, std::forward<Args>(args)...));
}

}  // namespace heed
