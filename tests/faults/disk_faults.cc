// A library for LD_PRELOAD that lets a program's calls to the disk fail, or kills the program in the middle of one.
//
//   FAULT_FOLDER   only calls for what is in this folder count (an absolute path)
//   FAULT_AT       which one, from 1 on; 0: none
//   FAULT_ERROR    the error number that it fails with; 0: SIGKILL, after half of what was to be written
//   FAULT_STAYS    1: all calls after it that would take space fail too, as on a disk that stays full
//   FAULT_COUNT    a file that says at the end how many there were
//
// Counted are the calls that change something: open to write, write, fsync, rename, mkdir, unlink, close of what was
// open to write.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

constexpr int kMostFiles = 4096;
std::atomic<bool> inside[kMostFiles];   // this descriptor leads into the folder
std::atomic<bool> written[kMostFiles];  // and is open to write
std::atomic<long> calls{0};

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

struct Plan {
  std::string folder = variable("FAULT_FOLDER"), count = variable("FAULT_COUNT");
  long at = std::atol(variable("FAULT_AT").c_str());
  int error = std::atoi(variable("FAULT_ERROR").c_str());
  bool stays = variable("FAULT_STAYS") == "1";

  ~Plan() {
    if (count.empty()) return;
    if (std::FILE* file = std::fopen(count.c_str(), "w")) {
      std::fprintf(file, "%ld\n", calls.load());
      std::fclose(file);
    }
  }
};

Plan& plan() {
  static Plan plan;
  return plan;
}

template <class Function>
Function* real(const char* name, Function*) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}
#define REAL(name) real(#name, &::name)

bool is_inside(int folder, const char* path) {
  if (!path || plan().folder.empty()) return false;
  if (*path != '/') return folder >= 0 && folder < kMostFiles && inside[folder];
  const std::string& begin = plan().folder;
  return std::strncmp(path, begin.c_str(), begin.size()) == 0 && (path[begin.size()] == '/' || !path[begin.size()]);
}

bool is_inside(int descriptor) {
  return descriptor >= 0 && descriptor < kMostFiles && inside[descriptor] && written[descriptor];
}

enum class Kind { takes_space, other };

/// True where the call is to fail, with errno set. `half` is done before the program is killed.
template <class Half>
bool fails(Kind kind, const Half& half) {
  const long number = ++calls;
  const Plan& p = plan();
  if (p.at <= 0 || number < p.at) return false;
  if (number > p.at && !(p.stays && kind == Kind::takes_space)) return false;
  if (p.error == 0) {
    half();
    ::kill(::getpid(), SIGKILL);
    ::pause();
  }
  errno = p.error;
  return true;
}

bool fails(Kind kind) {
  return fails(kind, [] {});
}

/// Remembers what was opened.
int opened(int descriptor, bool is_in, bool to_write) {
  if (descriptor >= 0 && descriptor < kMostFiles) {
    inside[descriptor] = is_in;
    written[descriptor] = is_in && to_write;
  }
  return descriptor;
}

int open_by(int (*open)(int, const char*, int, ...), int folder, const char* path, int flags, mode_t mode) {
  const bool is_in = is_inside(folder, path);
  const bool to_write = (flags & O_ACCMODE) != O_RDONLY || (flags & O_CREAT) != 0;
  if (is_in && to_write && fails(Kind::takes_space)) return -1;
  return opened(open(folder, path, flags, mode), is_in, to_write);
}

mode_t mode_of(int flags, va_list list) { return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(list, mode_t) : 0; }

std::FILE* fopen_by(std::FILE* (*open)(const char*, const char*), const char* path, const char* mode) {
  const bool is_in = is_inside(AT_FDCWD, path), to_write = std::strpbrk(mode, "wa+") != nullptr;
  if (is_in && to_write && fails(Kind::takes_space)) return nullptr;
  std::FILE* file = open(path, mode);
  if (file) opened(::fileno(file), is_in, to_write);
  return file;
}

}  // namespace

extern "C" {

int open(const char* path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  const mode_t mode = mode_of(flags, list);
  va_end(list);
  return open_by(REAL(openat), AT_FDCWD, path, flags, mode);
}
int open64(const char* path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  const mode_t mode = mode_of(flags, list);
  va_end(list);
  return open_by(REAL(openat64), AT_FDCWD, path, flags, mode);
}
int openat(int folder, const char* path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  const mode_t mode = mode_of(flags, list);
  va_end(list);
  return open_by(REAL(openat), folder, path, flags, mode);
}
int openat64(int folder, const char* path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  const mode_t mode = mode_of(flags, list);
  va_end(list);
  return open_by(REAL(openat64), folder, path, flags, mode);
}
std::FILE* fopen(const char* path, const char* mode) { return fopen_by(REAL(fopen), path, mode); }
std::FILE* fopen64(const char* path, const char* mode) { return fopen_by(REAL(fopen64), path, mode); }

ssize_t write(int descriptor, const void* bytes, size_t count) {
  const auto half = [&] { REAL(write)(descriptor, bytes, count / 2); };
  if (is_inside(descriptor) && fails(Kind::takes_space, half)) return -1;
  return REAL(write)(descriptor, bytes, count);
}
ssize_t writev(int descriptor, const iovec* pieces, int count) {
  const auto half = [&] { REAL(write)(descriptor, pieces->iov_base, pieces->iov_len / 2); };
  if (is_inside(descriptor) && fails(Kind::takes_space, half)) return -1;
  return REAL(writev)(descriptor, pieces, count);
}
int fsync(int descriptor) {
  const bool is_in = descriptor >= 0 && descriptor < kMostFiles && inside[descriptor];
  if (is_in && fails(Kind::takes_space)) return -1;
  return REAL(fsync)(descriptor);
}
int ftruncate(int descriptor, off_t length) {
  if (is_inside(descriptor) && fails(Kind::other)) return -1;
  return REAL(ftruncate)(descriptor, length);
}
int close(int descriptor) {
  const bool counts = is_inside(descriptor);
  if (descriptor >= 0 && descriptor < kMostFiles) inside[descriptor] = written[descriptor] = false;
  const int done = REAL(close)(descriptor);
  return counts && fails(Kind::other) ? -1 : done;
}
int mkdir(const char* path, mode_t mode) {
  if (is_inside(AT_FDCWD, path) && fails(Kind::takes_space)) return -1;
  return REAL(mkdir)(path, mode);
}
int rename(const char* from, const char* to) noexcept {
  if (is_inside(AT_FDCWD, to) && fails(Kind::takes_space)) return -1;
  return REAL(rename)(from, to);
}
int renameat2(int from_folder, const char* from, int to_folder, const char* to, unsigned flags) noexcept {
  if (is_inside(to_folder, to) && fails(Kind::takes_space)) return -1;
  return REAL(renameat2)(from_folder, from, to_folder, to, flags);
}
int unlink(const char* path) noexcept {
  if (is_inside(AT_FDCWD, path) && fails(Kind::other)) return -1;
  return REAL(unlink)(path);
}
int unlinkat(int folder, const char* path, int flags) noexcept {
  if (is_inside(folder, path) && fails(Kind::other)) return -1;
  return REAL(unlinkat)(folder, path, flags);
}

}  // extern "C"
