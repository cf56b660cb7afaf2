#include "heed/data/built_in_task.h"

#include <vector>

#include "heed/data/dates.h"
#include "heed/data/reverse.h"
#include "heed/data/scenes.h"
#include "heed/tensor/error.h"
#include "heed/tensor/nearest.h"

namespace heed::data {

std::span<const BuiltInTask> built_in_tasks() {
  static const std::vector<BuiltInTask> all = {
      {"dates", "dates as people write them, in some 40 languages, to ISO 8601: 'mardi 5 mars 2024' to '2024-03-05'",
       false, [](int64_t count, uint64_t seed, Split split) { return date_pairs(count, seed, {.split = split}); },
       example_dates},
      {"reverse", "letters and digits backwards: 'heed7' to '7deeh'", false,
       [](int64_t count, uint64_t seed, Split split) { return reverse_pairs(count, seed, {.split = split}); },
       [] { return reverse_pairs(5, 0, {.min_length = 4, .split = Split::test}); }},
      {"scenes", "a drawn picture with some shapes, and a word that names one, to its colour: 'circle' to 'red'", true,
       scene_questions, [] { return scene_questions(5, 0, Split::test); }},
      {"scene_captions", "the same pictures to what they show: 'red circle left of black bar'", true, scene_captions,
       [] { return scene_captions(5, 0, Split::test); }},
  };
  return all;
}

const BuiltInTask& find_built_in_task(std::string_view name) {
  std::vector<std::string> names;
  for (const BuiltInTask& task : built_in_tasks()) {
    if (task.name == name) return task;
    names.push_back(task.name);
  }
  throw Error(fmt::format("there is no task '{}'; did you mean '{}'? There are: {}", name, nearest(name, names),
                          fmt::join(names, ", ")));
}

}  // namespace heed::data
