// Errors of C libraries that report them by a function that must not return. It jumps back to where the library was
// called. Nothing is destroyed on the way, so what is called may only use what owns nothing: memory belongs to objects
// outside.
#pragma once

#include <csetjmp>
#include <cstdio>

namespace heed::data {

class JumpGuard {
 public:
  /// Runs call(); false if fail() ended it.
  template <class Call>
  bool run(const Call& call) {
    if (setjmp(here_) != 0) return false;
    call();
    return true;
  }
  /// Only while run() runs.
  [[noreturn]] void fail(const char* why) {
    std::snprintf(why_, sizeof why_, "%s", why);
    std::longjmp(here_, 1);
  }
  const char* why() const { return why_; }

  /// The library got no memory: if it fails, that is why.
  void note_no_memory() { no_memory_ = true; }
  bool no_memory() const { return no_memory_; }

 private:
  std::jmp_buf here_;
  bool no_memory_ = false;
  char why_[256] = "";
};

}  // namespace heed::data
