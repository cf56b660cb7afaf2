#include "heed/task/all.h"

#include "heed/tensor/nearest.h"

namespace heed::task {

const std::vector<const Task*>& all() {
#define HEED_ADDRESS(name) &name##_task(),
  static const std::vector<const Task*> tasks = {HEED_TASKS(HEED_ADDRESS)};
#undef HEED_ADDRESS
  return tasks;
}

const Task& find(std::string_view name) {
  for (const Task* task : all())
    if (task->is_called(name)) return *task;
  return find_by_name(all(), name, "task");  // throws
}

}  // namespace heed::task
