#include "heed/serve/jobs.h"

#include <string_view>

#include "heed/task/task.h"

namespace heed::serve {

std::string complete_characters(std::string text) {
  constexpr std::string_view kIncomplete = "\uFFFD";
  while (text.ends_with(kIncomplete)) text.resize(text.size() - kIncomplete.size());
  return text;
}

void refuse_files(const ServedModel& model, const std::string& line) {
  if (std::string_view(model.task().name) != "picture" || line.starts_with("scene:") || line.starts_with("data:"))
    return;
  throw Failure(400, "picture_file",
                "A picture must be in the request itself: data:image/png;base64,... The server reads no files.");
}

}  // namespace heed::serve
