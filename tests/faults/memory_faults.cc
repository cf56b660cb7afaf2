// A library for LD_PRELOAD that lets one allocation of a program fail.
//
//   FAULT_AT       which one, from 1 on; 0: none
//   FAULT_COUNT    a file that says at the end how many there were
//
// Counted are all of them, by the program and by every library: malloc, calloc, realloc, aligned_alloc, posix_memalign.
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
}

namespace {

std::atomic<long> calls{0};
std::atomic<long> at{-1};  // not read from the environment yet

bool fails() {
  long wanted = at.load();
  if (wanted < 0) {
    const char* value = std::getenv("FAULT_AT");
    at = wanted = value ? std::atol(value) : 0;
  }
  if (++calls != wanted) return false;
  errno = ENOMEM;
  return true;
}

struct Report {
  ~Report() {
    const char* file = std::getenv("FAULT_COUNT");
    if (!file) return;
    char text[32];
    const int length = std::snprintf(text, sizeof text, "%ld\n", calls.load());
    const int descriptor = open(file, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (write(descriptor, text, static_cast<size_t>(length)) != length) _exit(99);
    close(descriptor);
  }
} report;

}  // namespace

extern "C" {

void* malloc(size_t bytes) { return fails() ? nullptr : __libc_malloc(bytes); }
void* calloc(size_t count, size_t bytes) { return fails() ? nullptr : __libc_calloc(count, bytes); }
void* realloc(void* before, size_t bytes) { return fails() ? nullptr : __libc_realloc(before, bytes); }
void* aligned_alloc(size_t align, size_t bytes) { return fails() ? nullptr : __libc_memalign(align, bytes); }
int posix_memalign(void** to, size_t align, size_t bytes) {
  if (fails()) return ENOMEM;
  *to = __libc_memalign(align, bytes);
  return *to ? 0 : ENOMEM;
}
}
