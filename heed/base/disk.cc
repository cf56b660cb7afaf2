#include "heed/base/disk.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

#include "heed/base/error.h"

namespace heed::file {

namespace {

std::string_view hint_of_reading(int error) {
  switch (error) {
    case EACCES:
    case EPERM:
      return "; you may not read it: change its permissions or its owner";
    case EIO:
      return "; the disk may be failing: copy what is on it";
    default:
      return "";
  }
}

std::string_view hint_of_writing(int error) {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
      return "; the disk is full: free some space or choose another folder";
    case EFBIG:
      return "; the file is larger than the limit of this system allows (ulimit "
             "-f)";
    case EROFS:
      return "; the disk is read-only: choose another folder";
    case EACCES:
    case EPERM:
      return "; you may not write there: choose another folder, or change its owner";
    case EIO:
      return "; the disk may be failing: copy what is on it";
    default:
      return "";
  }
}

std::string message(std::string_view doing, const fs::path& path, int error, std::string_view hint) {
  return fmt::format("cannot {} '{}': {}{}", doing, path.string(), std::generic_category().message(error), hint);
}

/// A write failed.
[[noreturn]] void fail(std::string_view doing, const fs::path& path, int error) {
  throw Error(ErrorKind::cannot_write, message(doing, path, error, hint_of_writing(error)));
}

[[noreturn]] void fail_to_read(std::string_view doing, const fs::path& path, int error) {
  throw Error(kind_of_unreadable(error), message(doing, path, error, hint_of_reading(error)));
}

/// Opened at once, or not: a pipe is given some time until somebody reads it.
int open_to_write_through(const fs::path& path) {
  constexpr int kTries = 40, kMicroseconds = 50'000;
  for (int i = 0; i < kTries; ++i) {
    const int opened = ::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (opened >= 0) ::fcntl(opened, F_SETFL, ::fcntl(opened, F_GETFL) & ~O_NONBLOCK);
    if (opened >= 0 || errno != ENXIO) return opened;
    ::usleep(kMicroseconds);
  }
  throw Error(ErrorKind::cannot_write,
              fmt::format("cannot write '{}': it is a pipe, and no program reads it", path.string()));
}

/// True if a test makes this call fail; errno is set then.
bool faulty(std::string_view call, const fs::path& path) {
  if (!disk_fault()) return false;
  errno = disk_fault()(call, path);
  return errno != 0;
}

}  // namespace

DiskFault& disk_fault() {
  static DiskFault fault;
  return fault;
}

fs::path folder_of(const fs::path& path) { return path.has_parent_path() ? path.parent_path() : fs::path("."); }

// ---------------------------------------------------------------------------------------------------------- open files

Descriptor::Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(number_, other.number_);
  return *this;
}

Descriptor::~Descriptor() {
  if (number_ >= 0) ::close(number_);
}

bool Descriptor::lock() const { return ::flock(number_, LOCK_EX | LOCK_NB) == 0; }

OutputFile::OutputFile(fs::path path) : path_(std::move(path)) {
  if (!faulty("create", path_))
    descriptor_ = Descriptor(::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!descriptor_) fail("create", path_, errno);
}

std::optional<OutputFile> OutputFile::through(const fs::path& path) {
  struct stat about {};
  if (::stat(path.c_str(), &about) != 0) return {};
  if (S_ISDIR(about.st_mode)) fail("write", path, EISDIR);
  const auto opened = [&](Descriptor descriptor) {
    if (!descriptor) fail("open", path, errno);
    return OutputFile(path, std::move(descriptor));
  };
  // Opened again, it would be written from the start, over earlier output.
  for (const int standard : {STDOUT_FILENO, STDERR_FILENO}) {
    struct stat other {};
    if (::fstat(standard, &other) == 0 && other.st_dev == about.st_dev && other.st_ino == about.st_ino)
      return opened(Descriptor(::fcntl(standard, F_DUPFD_CLOEXEC, 3)));
  }
  if (S_ISREG(about.st_mode)) return {};
  return opened(Descriptor(open_to_write_through(path)));
}

void OutputFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    // Linux writes at most 2 GB at once.
    const size_t count = std::min(bytes.size(), size_t{1} << 30);
    const ssize_t written = faulty("write", path_) ? -1 : ::write(descriptor_.number(), bytes.data(), count);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("write", path_, errno);
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
}

void OutputFile::write(std::string_view text) { write(std::as_bytes(std::span(text))); }

void OutputFile::finish() {
  // EINVAL and EROFS: a device or a pipe, where nothing is kept that could be on a disk.
  if (faulty("sync", path_) || (::fsync(descriptor_.number()) != 0 && errno != EINVAL && errno != EROFS))
    fail("sync", path_, errno);
}

InputFile::InputFile(fs::path path) : path_(std::move(path)) {
  // A pipe in place of a file would block forever without O_NONBLOCK.
  descriptor_ = Descriptor(::open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (!descriptor_) fail_to_read("open", path_, errno);
  struct stat about {};
  if (::fstat(descriptor_.number(), &about) != 0) fail_to_read("read", path_, errno);
  expect(S_ISREG(about.st_mode), ErrorKind::file, "cannot read '{}': it is {}, not an ordinary file", path_.string(),
         S_ISDIR(about.st_mode) ? "a folder" : "a device or a pipe");
  size_ = static_cast<uint64_t>(about.st_size);
}

void InputFile::read(std::span<std::byte> into) {
  while (!into.empty()) {
    const size_t count = std::min(into.size(), size_t{1} << 30);
    const ssize_t got = ::read(descriptor_.number(), into.data(), count);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail_to_read("read", path_, errno);
    expect(got > 0, ErrorKind::file, "cannot read '{}': it became shorter while it was read", path_.string());
    into = into.subspan(static_cast<size_t>(got));
  }
}

void InputFile::rewind() {
  if (::lseek(descriptor_.number(), 0, SEEK_SET) != 0) fail_to_read("read", path_, errno);
}

std::vector<std::byte> read_bytes(const fs::path& path) {
  InputFile file(path);
  std::vector<std::byte> bytes(file.size());
  file.read(bytes);
  return bytes;
}

std::string read_text(const fs::path& path, uint64_t most) {
  InputFile file(path);
  expect(file.size() <= most, ErrorKind::file, "cannot read '{}': it has {} bytes, and at most {} are expected",
         path.string(), file.size(), most);
  std::string text(file.size(), '\0');
  file.read(std::as_writable_bytes(std::span(text)));
  return text;
}

// --------------------------------------------------------------------------------------------------------------- names

void make_folder(const fs::path& path) {
  if (faulty("make", path) || ::mkdir(path.c_str(), 0777) != 0) fail("make the folder", path, errno);
}

void make_folders(const fs::path& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) return;
  // The parent of "a/b/" is "a/b", which is the same folder.
  if (!path.has_filename()) return make_folders(path.parent_path());
  make_folders(folder_of(path));
  if (faulty("make", path) || (::mkdir(path.c_str(), 0777) != 0 && errno != EEXIST))
    fail("make the folder", path, errno);
  if (!fs::is_directory(path, ignored)) fail("make the folder", path, ENOTDIR);
  sync_folder(folder_of(path));
}

Descriptor open_folder(const fs::path& path) {
  Descriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder && errno != ENOENT) fail("open the folder", path, errno);
  return folder;
}

Descriptor open_lock(const fs::path& path) {
  Descriptor file;
  if (!faulty("create", path)) file = Descriptor(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  if (!file) fail("open", path, errno);
  return file;
}

void remove_file(const fs::path& path) {
  if (faulty("remove", path) || (::unlink(path.c_str()) != 0 && errno != ENOENT)) fail("remove", path, errno);
}

void sync_folder(const fs::path& path) {
  if (faulty("sync", path)) fail("sync", path, errno);
  const Descriptor folder = open_folder(path);
  // EINVAL: a file system that has no sync of folders, and needs none.
  if (!folder || (::fsync(folder.number()) != 0 && errno != EINVAL)) fail("sync", path, errno);
}

void change_name(const fs::path& from, const fs::path& to) {
  if (faulty("rename", to) || ::rename(from.c_str(), to.c_str()) != 0) fail("write", to, errno);
}

bool swap_names(const fs::path& one, const fs::path& two) {
  if (!faulty("swap", two) && ::renameat2(AT_FDCWD, one.c_str(), AT_FDCWD, two.c_str(), RENAME_EXCHANGE) == 0)
    return true;
  if (errno == EINVAL || errno == ENOSYS) return false;
  fail("write", two, errno);
}

}  // namespace heed::file
