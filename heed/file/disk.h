// What this layer asks of the operating system. A refusal is an Error with the path, the reason and what to do.
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

/// An open file or folder, closed at the end of its life.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept;
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor();

  int number() const { return number_; }
  explicit operator bool() const { return number_ >= 0; }
  /// Nobody else holds the lock of this file or folder, and now it is ours until it is closed, also by kill -9.
  bool lock() const;

 private:
  int number_;
};

/// A new file, written front to back.
class OutputFile {
 public:
  explicit OutputFile(fs::path path);  // it must not exist
  /// What has a name but no content that could be replaced: a device, a pipe, or where standard output or standard
  /// error goes, which is open already. None where it is an ordinary file, or not there.
  static std::optional<OutputFile> through(const fs::path& path);

  void write(std::span<const std::byte> bytes);
  void write(std::string_view text);
  void finish();  // on the disk, not only on its way to it
  const Descriptor& descriptor() const { return descriptor_; }

 private:
  OutputFile(fs::path path, Descriptor descriptor) : path_(std::move(path)), descriptor_(std::move(descriptor)) {}

  fs::path path_;
  Descriptor descriptor_;
};

/// An ordinary file, read front to back.
class InputFile {
 public:
  explicit InputFile(fs::path path);

  uint64_t size() const { return size_; }
  void read(std::span<std::byte> into);  // all of it

 private:
  fs::path path_;
  Descriptor descriptor_;
  uint64_t size_ = 0;
};

std::vector<std::byte> read_bytes(const fs::path& path);
std::string read_text(const fs::path& path, uint64_t most = uint64_t{1} << 30);

void make_folder(const fs::path& path);        // must not exist
void make_folders(const fs::path& path);       // with all above it; those that are there already are fine
Descriptor open_folder(const fs::path& path);  // empty where it does not exist
Descriptor open_lock(const fs::path& path);    // a file to lock(), which is made where it is not there
void remove_file(const fs::path& path);        // fine where it is not there
void sync_folder(const fs::path& path);        // the names in it are on the disk
void change_name(const fs::path& from, const fs::path& to);
/// Exchanges two names at once; false where the file system cannot.
bool swap_names(const fs::path& one, const fs::path& two);

/// The folder that `path` stands in: "." for a bare name.
fs::path folder_of(const fs::path& path);

/// For tests. Asked before every call that changes the disk ("create", "write", "sync", "make", "rename", "swap",
/// "remove"), with the path: another answer than 0 is the error number that the call then fails with.
using DiskFault = std::function<int(std::string_view call, const fs::path& path)>;
DiskFault& disk_fault();

}  // namespace heed::file
