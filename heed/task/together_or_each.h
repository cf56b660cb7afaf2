// Many items at once, and one by one if that fails.
#pragma once

#include <new>
#include <span>
#include <string>

#include "heed/tensor/error.h"
#include "heed/tensor/memory.h"

namespace heed::task {

/// If all of them together fail, each is tried alone, so that one that needs too much memory or gives NaN does not fail
/// the others. `run` answers some of them; `fail` stores the error of one.
template <class Item, class Run, class Fail>
void together_or_each(std::span<const Item> items, const Run& run, const Fail& fail) {
  std::string error;
  try {
    return run(items);
  } catch (const Error& wrong) {
    error = wrong.what();
  } catch (const std::bad_alloc& lack) {
    error = memory_text(lack);
  }
  if (items.size() == 1) return fail(items.front(), error);
  for (size_t i = 0; i < items.size(); ++i) together_or_each(items.subspan(i, 1), run, fail);
}

}  // namespace heed::task
