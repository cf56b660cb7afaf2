// A library for LD_PRELOAD that lets one allocation of a program fail, whenever another process says so.
//
//   MEMORY_ORDERS   a file of at least 16 bytes that both map: Orders. Without it, all goes well.
//
// Counted are the calls of all threads: malloc, calloc, realloc, and those that align. `new` calls malloc.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

extern "C" {  // glibc's own, below the names that are taken here
void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* memory, size_t size);
void* __libc_memalign(size_t alignment, size_t size);
}

namespace {

struct Orders {
  std::atomic<int64_t> wait;    // calls until the one that fails; 0 or less: none does
  std::atomic<int64_t> failed;  // calls that have failed
};
static_assert(std::atomic<int64_t>::is_always_lock_free && sizeof(Orders) == 16);

Orders* orders = nullptr;

__attribute__((constructor)) void read_orders() {
  const char* name = std::getenv("MEMORY_ORDERS");
  const int file = name ? ::open(name, O_RDWR | O_CLOEXEC) : -1;
  if (file < 0) return;
  void* shared = ::mmap(nullptr, sizeof(Orders), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ::close(file);
  if (shared != MAP_FAILED) orders = static_cast<Orders*>(shared);
}

bool fails() {
  if (!orders || orders->wait.load(std::memory_order_relaxed) <= 0) return false;
  if (orders->wait.fetch_sub(1) != 1) return false;
  ++orders->failed;
  errno = ENOMEM;
  return true;
}

}  // namespace

extern "C" {

void* malloc(size_t size) { return fails() ? nullptr : __libc_malloc(size); }
void* calloc(size_t count, size_t size) { return fails() ? nullptr : __libc_calloc(count, size); }
void* realloc(void* memory, size_t size) { return fails() ? nullptr : __libc_realloc(memory, size); }
void* memalign(size_t alignment, size_t size) { return fails() ? nullptr : __libc_memalign(alignment, size); }
void* aligned_alloc(size_t alignment, size_t size) { return fails() ? nullptr : __libc_memalign(alignment, size); }
int posix_memalign(void** memory, size_t alignment, size_t size) {
  if (fails()) return ENOMEM;
  *memory = __libc_memalign(alignment, size);
  return *memory ? 0 : ENOMEM;
}
}
