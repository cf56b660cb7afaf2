// Work that the memory of this machine cannot hold is refused before it begins, with what it would need.
#pragma once

#include <cstdint>
#include <new>
#include <string>
#include <string_view>
#include <utility>

namespace heed {

/// Like the std::bad_alloc that it stands for, it is no Error: nothing is wrong with the input. Python raises it as
/// MemoryError.
class NotEnoughMemory : public std::bad_alloc {
 public:
  explicit NotEnoughMemory(std::string message) : message_(std::move(message)) {}
  const char* what() const noexcept override { return message_.c_str(); }

 private:
  std::string message_;
};

/// What to say about any std::bad_alloc: "not enough memory", and more where it is known.
std::string memory_text(const std::bad_alloc& error);

/// Bytes that this process can still take: what the machine has free, and what `ulimit -v` leaves.
double memory_left();

/// Throws NotEnoughMemory, as "not enough memory: {what} needs about 12.3 GB, and 7.9 GB are free; {hint}", where
/// `bytes` are more than that. Costs a system call: for what is taken once.
void expect_memory(double bytes, std::string_view what, std::string_view hint = "");

}  // namespace heed
