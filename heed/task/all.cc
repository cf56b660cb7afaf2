#include "heed/task/all.h"

namespace heed::task {

const List<Task>& all() {
#define HEED_ADDRESS(name) &name##_task(),
  static const List<Task> list("task", {HEED_TASKS(HEED_ADDRESS)});
#undef HEED_ADDRESS
  return list;
}

}  // namespace heed::task
