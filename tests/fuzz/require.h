// What every fuzzer needs.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "heed/base/error.h"

namespace heed::test {

/// Ends the program, as a fuzzer wants it.
inline void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "fuzz: %s\n", what);
  std::abort();
}

/// Bytes may be refused, with a reason, but not after they were accepted.
inline void require_refusal(const Error& error, bool accepted) {
  require(!accepted, error.what());
  require(std::strlen(error.what()) > 10, "refused without a reason");
}

}  // namespace heed::test
