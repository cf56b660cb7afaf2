#include "heed/data/built_in_task.h"

#include "heed/data/dates.h"
#include "heed/data/reverse.h"
#include "heed/data/scenes.h"

namespace heed::data {

const List<BuiltInTask>& built_in_tasks() {
  static const BuiltInTask kTasks[] = {
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
  static const List<BuiltInTask> list("task", kTasks);
  return list;
}

}  // namespace heed::data
