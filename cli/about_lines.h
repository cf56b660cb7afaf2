// Which lines the memory did not suffice for.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <new>

#include "heed/base/memory.h"

namespace heed::cli {

/// Returns work(), which answers lines `first` to `last`. If there is not enough memory for them, even one by one, the
/// message names them: what was printed before holds, and nothing after it.
template <class Work>
auto about_lines(int64_t first, int64_t last, const Work& work) {
  try {
    return work();
  } catch (const std::bad_alloc& lack) {
    throw NotEnoughMemory(fmt::format(
        "{}: {}; shorter lines, a smaller --beam, --nbest or --max-length, or --threads 1 need less",
        first == last ? fmt::format("line {}", first) : fmt::format("lines {} to {}", first, last), memory_text(lack)));
  }
}

}  // namespace heed::cli
