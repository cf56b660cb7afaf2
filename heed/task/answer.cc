#include "heed/task/answer.h"

#include <utility>

#include "heed/base/interrupt.h"
#include "heed/task/line_tokens.h"
#include "heed/task/retry_individually.h"
#include "heed/text/utf8.h"

namespace heed::task {

data::Sources no_sources(const LoadedModel& asked) {
  data::Sources sources;
  sources.others.resize(asked.others.size());
  return sources;
}

std::vector<ReadLine> read_for_all(const LineReader& reader, std::string_view line, const LoadedModel& asked,
                                   Prediction* told) {
  std::vector<ReadLine> all;
  asked.each_model([&](const LoadedModel& each) {
    if (all.empty() || (all.back().error.empty() && !all.back().is_empty))
      all.push_back(reader.read(line, each, all.empty() ? told : nullptr));
  });
  return all;
}

void add_source(data::Sources& sources, const std::vector<ReadLine>& read) {
  sources.add(read[0].source());
  for (size_t m = 1; m < read.size(); ++m) sources.others[m - 1].add(read[m].source());
}

std::vector<Prediction> answer_lines(const LoadedModel& asked, std::span<const std::string> lines, int64_t first,
                                     Answerer& task) {
  std::vector<Prediction> predictions(lines.size());
  data::Sources sources = no_sources(asked);
  std::vector<PendingLine> there;
  for (size_t i = 0; i < lines.size(); ++i) {
    stop_if_interrupted();
    const std::string_view line = without_end(lines[i]);
    Prediction& answer = predictions[i];
    answer.error = text::utf8_complaint(line);
    if (!answer.error.empty()) continue;
    const std::vector<ReadLine> read = read_for_all(task, line, asked, &answer);
    answer.error = read.back().error;
    if (!answer.error.empty() || read.back().is_empty) continue;
    RulesOfLine rules = task.rules_of(i);
    answer.error = rules.error;
    if (!answer.error.empty()) continue;
    there.push_back({.source = sources.size(),
                     .number = first + static_cast<int64_t>(i),
                     .text = line,
                     .rules = std::move(rules),
                     .answer = &answer});
    add_source(sources, read);
  }
  if (there.empty()) return predictions;
  retry_individually(
      std::span<const PendingLine>(there), [&](std::span<const PendingLine> some) { task.answer(sources, some); },
      [](const PendingLine& line, const std::string& error) { line.answer->error = error; });
  return predictions;
}

}  // namespace heed::task
