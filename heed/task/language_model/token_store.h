// The token ids of a long text. Beyond a limit they are kept in a temporary file, so that a text may be larger than the
// memory: the system reads the parts that are used.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

namespace heed::task {

class TokenStore {
 public:
  static constexpr int64_t kInMemory = int64_t{1} << 27;  // ids: 512 MiB

  /// `folder`: of the temporary file, which has no name there and goes with the program. Empty: the system's.
  explicit TokenStore(int64_t in_memory = kInMemory, std::filesystem::path folder = {});
  ~TokenStore();
  TokenStore(const TokenStore&) = delete;
  TokenStore& operator=(const TokenStore&) = delete;

  /// Throws Error if the disk is full.
  void add(std::span<const int32_t> ids);
  void add(int32_t id) { add(std::span(&id, 1)); }
  /// Call once, after the last id.
  void finish();

  int64_t size() const { return written_ + std::ssize(buffer_); }
  bool on_disk() const { return file_ >= 0; }
  std::span<const int32_t> ids() const;  // all of them, after finish()

 private:
  void write_buffer();

  int64_t limit_;
  std::filesystem::path folder_;
  std::vector<int32_t> buffer_;
  int64_t written_ = 0;  // ids in the file
  int file_ = -1;
  const int32_t* mapped_ = nullptr;
};

}  // namespace heed::task
