// The list of commands, in the order of the help. Each adds itself to the command line, and runs when chosen: a new one
// is one file and one word here.
#pragma once

namespace heed::cli {

class Program;

// clang-format off
#define HEED_VERBS(X)                                                                                    \
  X(demo) X(train) X(predict) X(chat) X(look) X(serve) X(score) X(evaluate) X(compare) X(distill) X(average)     \
  X(export) X(import) X(info) X(mechanisms) X(explain) X(scenes)                                                         \
  /* for packagers: the help does not show them */ X(completions) X(manual) X(openapi)
// clang-format on

#define HEED_DECLARE(name) void add_##name(Program& program);
HEED_VERBS(HEED_DECLARE)
#undef HEED_DECLARE

}  // namespace heed::cli
