// Refuses work that does not fit in this machine's memory before it starts, and says how much it would need.
#pragma once

#include <cstdint>
#include <new>
#include <string>
#include <string_view>
#include <utility>

namespace heed {

/// A std::bad_alloc and not an Error: nothing is wrong with the input. Python raises it as MemoryError.
class NotEnoughMemory : public std::bad_alloc {
 public:
  explicit NotEnoughMemory(std::string message) : message_(std::move(message)) {}
  const char* what() const noexcept override { return message_.c_str(); }

 private:
  std::string message_;
};

/// The message for any std::bad_alloc: "not enough memory", and more if known.
std::string memory_text(const std::bad_alloc& error);

/// Bytes that this process can still allocate: the machine's free memory, within `ulimit -v`.
double memory_left();

/// Throws NotEnoughMemory, as "not enough memory: {what} needs about 12.3 GB, and 7.9 GB are free; {hint}", if `bytes`
/// is more than that. Costs a system call: use it for large, one-time allocations.
void expect_memory(double bytes, std::string_view what, std::string_view hint = "");

}  // namespace heed
