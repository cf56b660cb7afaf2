#include "cli/memory_end.h"

#include <openssl/crypto.h>
#include <unicode/uclean.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <string_view>

#include "cli/exit_code.h"

namespace heed::cli {

namespace {

/// Without memory: fmt and streams would ask for some.
void say(std::string_view text) {
  const ssize_t ignored = ::write(STDERR_FILENO, text.data(), text.size());
  static_cast<void>(ignored);
}

[[noreturn]] void end_without_memory() {
  say("heed: not enough memory\n");
  ::_exit(kMemory);  // no destructors: they may need what is not there
}

std::atomic<bool> lacked = false;

/// As if there were no handler, but it is remembered.
void remember_the_lack() {
  lacked = true;
  throw std::bad_alloc();
}

/// Where a function that must not throw is inside the standard library (a step of a directory_iterator), the exception
/// is not known any more.
[[noreturn]] void end_after_exception() {
  if (!std::current_exception() && lacked) end_without_memory();
  if (const std::exception_ptr thrown = std::current_exception()) try {
      std::rethrow_exception(thrown);
    } catch (const std::bad_alloc&) {
      end_without_memory();
    } catch (const std::exception& error) {
      say("heed: a bug in heed, please report it: ");
      say(error.what());
      say("\n");
    } catch (...) {
      say("heed: a bug in heed, please report it\n");
    }
  std::abort();
}

void end_with_a_message() {
  std::set_terminate(end_after_exception);
  std::set_new_handler(remember_the_lack);
}

/// Before the constructors of all libraries, which allocate too (those of SentencePiece do): only the sources of a
/// program can have such an entry.
[[gnu::section(".preinit_array"), gnu::used]] void (*const first_of_all)() = end_with_a_message;

// -------------------------------------------------------------------------------------------- allocations of libraries

constexpr size_t kReserve = size_t{1} << 20;
std::atomic<void*> reserve = nullptr;

/// ask() until it gives memory: other threads may release some.
template <class Ask>
void* insist(const Ask& ask) {
  constexpr int kTries = 20;
  constexpr useconds_t kPause = 5'000;
  for (int i = 0; i < kTries; ++i) {
    if (void* given = ask()) return given;
    if (void* kept = reserve.exchange(nullptr))
      std::free(kept);
    else
      ::usleep(kPause);
  }
  end_without_memory();
}

void* allocate(size_t bytes) {
  return insist([&] { return std::malloc(bytes > 0 ? bytes : 1); });
}
void* allocate_again(void* at, size_t bytes) {
  return insist([&] { return std::realloc(at, bytes > 0 ? bytes : 1); });
}

void* U_CALLCONV icu_allocate(const void*, size_t bytes) { return allocate(bytes); }
void* U_CALLCONV icu_allocate_again(const void*, void* at, size_t bytes) { return allocate_again(at, bytes); }
void U_CALLCONV icu_free(const void*, void* at) { std::free(at); }

void* crypto_allocate(size_t bytes, const char*, int) { return bytes > 0 ? allocate(bytes) : nullptr; }
void* crypto_allocate_again(void* at, size_t bytes, const char*, int) {
  if (bytes > 0) return allocate_again(at, bytes);
  std::free(at);
  return nullptr;
}
void crypto_free(void* at, const char*, int) { std::free(at); }

}  // namespace

void prepare_for_the_end_of_memory() {
  reserve = std::malloc(kReserve);
  // Both refuse this once they have allocated something; then they stay as they are.
  UErrorCode status = U_ZERO_ERROR;
  u_setMemoryFunctions(nullptr, icu_allocate, icu_allocate_again, icu_free, &status);
  CRYPTO_set_mem_functions(crypto_allocate, crypto_allocate_again, crypto_free);
}

}  // namespace heed::cli
