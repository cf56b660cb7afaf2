#include "heed/data/task.h"

#include <vector>

#include "heed/data/dates.h"
#include "heed/data/reverse.h"
#include "heed/tensor/error.h"
#include "heed/tensor/nearest.h"

namespace heed {

std::span<const Task> tasks() {
  static const std::vector<Task> all = {
      {"dates", "dates as people write them, in some 40 languages, to ISO 8601: 'mardi 5 mars 2024' to '2024-03-05'",
       [](int64_t count, uint64_t seed, Split split) { return date_pairs(count, seed, {.split = split}); },
       example_dates},
      {"reverse", "letters and digits backwards: 'heed7' to '7deeh'",
       [](int64_t count, uint64_t seed, Split split) { return reverse_pairs(count, seed, {.split = split}); },
       [] { return reverse_pairs(5, 0, {.min_length = 4, .split = Split::kTest}); }},
  };
  return all;
}

const Task& find_task(std::string_view name) {
  std::vector<std::string> names;
  for (const Task& task : tasks()) {
    if (task.name == name) return task;
    names.push_back(task.name);
  }
  throw Error(fmt::format("there is no task '{}'; did you mean '{}'? There are: {}", name, nearest(name, names),
                          fmt::join(names, ", ")));
}

}  // namespace heed
