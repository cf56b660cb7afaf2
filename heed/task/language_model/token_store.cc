#include "heed/task/language_model/token_store.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include "heed/base/error.h"

namespace heed::task {

namespace {

constexpr size_t kWrittenAtOnce = size_t{1} << 20;  // ids

/// A new file that has no name any more.
int open_nameless(const std::filesystem::path& folder) {
  std::string name = (folder / "heed-tokens-XXXXXX").string();
  const int file = ::mkostemp(name.data(), O_CLOEXEC);
  expect(file >= 0, ErrorKind::file,
         "the tokens of a long text need a temporary file, but none can be made in '{}': {}. TMPDIR names another "
         "folder",
         folder.string(), std::strerror(errno));
  ::unlink(name.c_str());
  return file;
}

}  // namespace

TokenStore::TokenStore(int64_t in_memory, std::filesystem::path folder)
    : limit_(in_memory), folder_(std::move(folder)) {}

TokenStore::~TokenStore() {
  if (mapped_) ::munmap(const_cast<int32_t*>(mapped_), static_cast<size_t>(written_) * sizeof(int32_t));
  if (file_ >= 0) ::close(file_);
}

void TokenStore::add(std::span<const int32_t> ids) {
  expect(!mapped_, ErrorKind::bug, "token store: it is finished");
  buffer_.insert(buffer_.end(), ids.begin(), ids.end());
  if (file_ < 0 && std::ssize(buffer_) <= limit_) return;
  if (file_ < 0) {
    if (folder_.empty()) folder_ = std::filesystem::temp_directory_path();
    file_ = open_nameless(folder_);
    write_buffer();
  } else if (buffer_.size() >= kWrittenAtOnce) {
    write_buffer();
  }
}

void TokenStore::write_buffer() {
  const auto* bytes = reinterpret_cast<const char*>(buffer_.data());
  size_t left = buffer_.size() * sizeof(int32_t);
  while (left > 0) {
    const ssize_t count = ::write(file_, bytes, left);
    if (count < 0 && errno == EINTR) continue;
    expect(count > 0, ErrorKind::file, "the tokens of the text cannot be written to a temporary file in '{}': {}",
           folder_.string(), std::strerror(count < 0 ? errno : ENOSPC));
    bytes += count;
    left -= static_cast<size_t>(count);
  }
  written_ += std::ssize(buffer_);
  std::vector<int32_t>().swap(buffer_);
}

void TokenStore::finish() {
  if (file_ < 0) {
    buffer_.shrink_to_fit();
    return;
  }
  write_buffer();
  void* all = ::mmap(nullptr, static_cast<size_t>(written_) * sizeof(int32_t), PROT_READ, MAP_PRIVATE, file_, 0);
  expect(all != MAP_FAILED, ErrorKind::file, "the temporary file of {} tokens cannot be read: {}", written_,
         std::strerror(errno));
  mapped_ = static_cast<const int32_t*>(all);
}

std::span<const int32_t> TokenStore::ids() const {
  if (!mapped_) return buffer_;
  return {mapped_, static_cast<size_t>(written_)};
}

}  // namespace heed::task
