// The list of all kinds of task. model.task of a recipe, its keys, data, metrics, validation and prediction follow from
// it: a new task is one file and one line here. More general ones come first: data that nothing special is known of is
// for the first, and data that several recognise is for the last of these.
#pragma once

#include <string_view>

#include "heed/base/list.h"
#include "heed/task/task.h"

namespace heed::task {

#define HEED_TASKS(X) X(pairs) X(label) X(next_token) X(masked_token) X(vector) X(picture) X(speech)

#define HEED_DECLARE(name) const Task& name##_task();
HEED_TASKS(HEED_DECLARE)
#undef HEED_DECLARE

const List<Task>& all();
/// Throws, naming the nearest.
inline const Task& find(std::string_view name) { return all().find(name); }

}  // namespace heed::task
