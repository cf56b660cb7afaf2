#include "heed/serve/jobs.h"

#include <string_view>

#include "heed/data/picture_source.h"
#include "heed/serve/question.h"
#include "heed/task/task.h"

namespace heed::serve {

std::string complete_characters(std::string text) {
  constexpr std::string_view kIncomplete = "\uFFFD";
  while (text.ends_with(kIncomplete)) text.resize(text.size() - kIncomplete.size());
  return text;
}

void check_line(const ServedModel& model, const std::string& line, const RequestLimits& limits) {
  if (std::string_view(model.task().name) != "picture") return check_text(line, limits);
  if (!data::is_file_name(data::cut_picture_question(line).picture)) return;
  throw Failure(400, "picture_file",
                "A picture must be in the request itself: data:image/png;base64,... The server reads no files.");
}

}  // namespace heed::serve
