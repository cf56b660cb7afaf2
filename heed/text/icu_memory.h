// ICU reports a lack of memory among its other errors.
#pragma once

#include <unicode/utypes.h>

#include <new>

namespace heed::text {

/// Throws std::bad_alloc if that is why a call of ICU failed: nothing is wrong with the text or the data of ICU.
inline void expect_icu_had_memory(UErrorCode status) {
  if (status == U_MEMORY_ALLOCATION_ERROR) throw std::bad_alloc();
}

}  // namespace heed::text
