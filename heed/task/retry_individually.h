// Many items at once, and one by one if that fails.
#pragma once

#include <new>
#include <span>
#include <string>

#include "heed/base/error.h"

namespace heed::task {

/// If all of them together fail, each is tried alone, so that one that gives NaN does not fail the others, and many
/// that need too much memory are answered one after the other. `run` answers some of them; `fail` stores the error of
/// one. Where even one alone needs too much memory, std::bad_alloc passes: nothing is wrong with it, and an empty
/// answer would be taken for one.
template <class Item, class Run, class Fail>
void retry_individually(std::span<const Item> items, const Run& run, const Fail& fail) {
  std::string error;
  try {
    return run(items);
  } catch (const Error& wrong) {
    error = wrong.what();
  } catch (const std::bad_alloc&) {
    if (items.size() == 1) throw;
  }
  if (items.size() == 1) return fail(items.front(), error);
  for (size_t i = 0; i < items.size(); ++i) retry_individually(items.subspan(i, 1), run, fail);
}

}  // namespace heed::task
