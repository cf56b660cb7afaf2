// Running out of memory, reported like any other error.
#pragma once

#include <new>

#include "heed/kernels/status.h"

namespace heed::kernels {

inline Status no_memory() { return Status::no_memory(); }

/// Returns f(). Inside the library running out of memory throws std::bad_alloc; callers never see that.
template <class F>
Status without_throwing(F&& f) {
  try {
    return f();
  } catch (const std::bad_alloc&) {
    return no_memory();
  }
}

}  // namespace heed::kernels
