// What the entries of encoders and decoders say of a model: Task::stacks().
#pragma once

#include <algorithm>
#include <string>

#include "heed/base/list.h"
#include "heed/task/task.h"

namespace heed::task {

/// Of all entries that a model is made of.
template <class... Entry>
StackFacts facts_of_stacks(const Entry&... entries) {
  StackFacts facts;
  const auto add = [&](const auto& entry) {
    for (const std::string& key : words_in(entry.keys))
      if (std::find(facts.keys.begin(), facts.keys.end(), key) == facts.keys.end()) facts.keys.push_back(key);
    facts.updates_to_learn = std::max(facts.updates_to_learn, entry.updates_to_learn);
  };
  (add(entries), ...);
  return facts;
}

}  // namespace heed::task
