// What the layers above the kernels throw. The message names the operation, what was expected, what came, and a hint.
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace heed {

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Throws Error with the formatted message unless `condition` holds.
template <class... Args>
void expect(bool condition, fmt::format_string<Args...> message, Args&&... args) {
  if (!condition) throw Error(fmt::format(message, std::forward<Args>(args)...));
}

}  // namespace heed
