// This layer's calls to the operating system. A failure is an Error with the path, the reason and what to do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heed::file {

namespace fs = std::filesystem;

/// An open file or folder, closed by its destructor.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept;
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor();

  int number() const { return number_; }
  explicit operator bool() const { return number_ >= 0; }
  /// Locks this file or folder until it is closed, also by kill -9; false if another process holds the lock.
  bool lock() const;

 private:
  int number_;
};

/// A new file, written from start to end.
class OutputFile {
 public:
  explicit OutputFile(fs::path path);  // it must not exist
  /// For names without replaceable content: a device, a pipe, or the target of standard output or standard error, which
  /// is already open. None if it is an ordinary file or does not exist.
  static std::optional<OutputFile> through(const fs::path& path);

  void write(std::span<const std::byte> bytes);
  void write(std::string_view text);
  void finish();  // returns when the data is on the disk
  const Descriptor& descriptor() const { return descriptor_; }

 private:
  OutputFile(fs::path path, Descriptor descriptor) : path_(std::move(path)), descriptor_(std::move(descriptor)) {}

  fs::path path_;
  Descriptor descriptor_;
};

/// An ordinary file, read from start to end.
class InputFile {
 public:
  explicit InputFile(fs::path path);

  uint64_t size() const { return size_; }
  void read(std::span<std::byte> into);  // all of it
  void rewind();                         // to the start: of the same file, whatever has its name by now

 private:
  fs::path path_;
  Descriptor descriptor_;
  uint64_t size_ = 0;
};

std::vector<std::byte> read_bytes(const fs::path& path);
std::string read_text(const fs::path& path, uint64_t most = uint64_t{1} << 30);

void make_folder(const fs::path& path);        // must not exist
void make_folders(const fs::path& path);       // with all its parents; existing ones are fine
Descriptor open_folder(const fs::path& path);  // empty if it does not exist
Descriptor open_lock(const fs::path& path);    // a file to lock(), created if missing
void remove_file(const fs::path& path);        // does nothing if it does not exist
void sync_folder(const fs::path& path);        // makes the names in it durable
void change_name(const fs::path& from, const fs::path& to);
/// Swaps two names atomically; false if the file system cannot.
bool swap_names(const fs::path& one, const fs::path& two);

/// The folder that contains `path`: "." for a bare name.
fs::path folder_of(const fs::path& path);

/// For tests. Called before every call that changes the disk ("create", "write", "sync", "make", "rename", "swap",
/// "remove"), with the path: if the result is not 0, the call fails with that error number.
using DiskFault = std::function<int(std::string_view call, const fs::path& path)>;
DiskFault& disk_fault();

}  // namespace heed::file
