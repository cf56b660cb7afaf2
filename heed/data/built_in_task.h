// The tasks that need no data: their examples are generated.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "heed/base/list.h"
#include "heed/data/pairs.h"
#include "heed/data/split.h"

namespace heed::data {

struct BuiltInTask {
  std::string name;
  std::string description;  // one line
  bool pictures = false;    // its sources name pictures (scenes.h): for model.task = "image"
  /// `count` pairs; the same seed and split give the same ones, and no pair is in two splits.
  std::function<Pairs(int64_t count, uint64_t seed, Split split)> pairs;
  std::function<Pairs()> examples;  // a few, to show what a model has learned
};

const List<BuiltInTask>& built_in_tasks();
/// Throws, naming the nearest.
inline const BuiltInTask& find_built_in_task(std::string_view name) { return built_in_tasks().find(name); }

}  // namespace heed::data
