// A file in memory, for what reads files.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "tests/fuzz/require.h"

namespace heed::test {

class MemoryFile {
 public:
  explicit MemoryFile(std::string_view bytes) : handle_(::memfd_create("fuzz", 0)) {
    require(::write(handle_, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()), "the memory is full");
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() { ::close(handle_); }
  std::filesystem::path path() const { return "/proc/self/fd/" + std::to_string(handle_); }

 private:
  int handle_;
};

}  // namespace heed::test
