// SHA-256, by libcrypto.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace heed::file {

class Sha256 {
 public:
  Sha256();

  void add(std::span<const std::byte> bytes);
  std::string hex();  // 64 small hexadecimal digits; nothing may be added afterwards

 private:
  struct Free {
    void operator()(void* context) const;
  };
  std::unique_ptr<void, Free> context_;
};

std::string sha256(std::span<const std::byte> bytes);
std::string sha256(std::string_view text);
std::string sha256_of_file(const std::filesystem::path& path);

}  // namespace heed::file
