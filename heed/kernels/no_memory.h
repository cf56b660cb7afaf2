// Lack of memory as a reason like any other.
#pragma once

#include <new>

#include "heed/kernels/status.h"

namespace heed::kernels {

inline Status no_memory() {
  Status status;
  status.refuse("memory: not enough for this problem; fewer threads, smaller batches or shorter rows need less");
  return status;
}

/// What f() gives. Inside the library whoever finds no memory throws std::bad_alloc; nobody outside gets to see that.
template <class F>
Status without_throwing(F&& f) {
  try {
    return f();
  } catch (const std::bad_alloc&) {
    return no_memory();
  }
}

}  // namespace heed::kernels
