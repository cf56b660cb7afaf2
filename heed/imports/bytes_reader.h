// Numbers and names in the bytes of a file of a stranger: nothing is read, and no memory is given, beyond its end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "heed/base/error.h"

namespace heed::imports {

/// Little-endian. Errors name the file.
class BytesReader {
 public:
  BytesReader(std::span<const std::byte> bytes, std::string_view file) : bytes_(bytes), file_(file) {}

  size_t left() const { return bytes_.size() - at_; }
  size_t at() const { return at_; }

  template <class Number>
  Number number(std::string_view what) {
    Number value;
    std::memcpy(&value, take(sizeof(Number), what).data(), sizeof(Number));
    return value;
  }
  /// `what` is for the message: "the name of a tensor".
  std::span<const std::byte> take(uint64_t count, std::string_view what) {
    expect(count <= left(), ErrorKind::file, "'{}' is cut off or damaged: {} should have {} bytes, but {} are left",
           file_, what, count, left());
    const auto taken = bytes_.subspan(at_, static_cast<size_t>(count));
    at_ += taken.size();
    return taken;
  }
  std::string text(uint64_t count, std::string_view what) {
    const auto taken = take(count, what);
    return {reinterpret_cast<const char*>(taken.data()), taken.size()};
  }

 private:
  std::span<const std::byte> bytes_;
  std::string_view file_;
  size_t at_ = 0;
};

}  // namespace heed::imports
