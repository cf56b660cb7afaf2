#include "heed/serve/jobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "heed/base/interrupt.h"
#include "heed/data/inline_picture.h"
#include "heed/data/picture_source.h"
#include "heed/data/sound_source.h"
#include "heed/serve/question.h"
#include "heed/task/task.h"

namespace heed::serve {

std::string complete_characters(std::string text) {
  constexpr std::string_view kIncomplete = "\uFFFD";
  while (text.ends_with(kIncomplete)) text.resize(text.size() - kIncomplete.size());
  return text;
}

void check_search(const Question& question, const RequestLimits& limits) {
  const predict::Options& o = question.options;
  if (!o.alignments || o.max_length == 0) return;  // 0: as the model was trained
  double bytes = 0;
  for (const std::string& input : question.inputs)
    if (!data::is_inline_picture(input)) bytes += static_cast<double>(input.size());
  const auto width = static_cast<double>(std::max<int64_t>({o.beam, o.nbest, o.lengths, 1}));
  const double weights = bytes * static_cast<double>(o.max_length) * width;
  if (weights <= static_cast<double>(limits.weights)) return;
  throw Failure(
      413, "too_many_weights",
      fmt::format("Where {:.0f} bytes of input are looked at by {:.0f} hypotheses of {} tokens, there are up to "
                  "{:.0f} weights; the server allows {} (--max-weights): a smaller \"max_length\" fits.",
                  bytes, width, o.max_length, weights, limits.weights));
}

void check_answer(double bytes, const RequestLimits& limits, const char* hint) {
  if (bytes <= static_cast<double>(limits.answer)) return;
  throw Failure(413, "answer_too_large",
                fmt::format("The answer would have {:.1f} MB; the server allows {:.1f} MB (--max-answer): {}.",
                            bytes / 1e6, static_cast<double>(limits.answer) / 1e6, hint));
}

void answer_json(Exchange& exchange, const file::Json& json, const RequestLimits& limits, const char* hint) {
  std::string body = json.line();
  body += '\n';
  stop_if_interrupted();
  check_answer(static_cast<double>(body.size()), limits, hint);
  exchange.answer({.body = std::move(body)});
}

void check_line(const ServedModel& model, const std::string& line, const RequestLimits& limits) {
  const task::LineParts parts = model.task().parts_of(line);
  check_text(parts.text, limits);
  if (model.task().sources() == task::SourceKind::sound && !data::is_inline_sound(parts.sound))
    throw Failure(400, "sound_file",
                  "A recording must be in the request itself: data:audio/wav;base64,... The server reads no files.");
  if (model.task().sources() != task::SourceKind::picture || !data::is_file_name(parts.picture)) return;
  throw Failure(400, "picture_file",
                "A picture must be in the request itself: data:image/png;base64,... The server reads no files.");
}

}  // namespace heed::serve
