#include "heed/train/objective/all.h"

#include <fmt/format.h>

#include <algorithm>

#include "heed/task/all.h"
#include "heed/train/objective/noise.h"

namespace heed::objective {

namespace {

bool reads(const Entry& entry, std::string_view key) {
  const std::vector<std::string> keys = words_in(entry.keys);
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

/// The keys whose values are not the defaults.
std::vector<std::string> changed(const Options& options) {
  const Options plain;
  std::vector<std::string> defaults, all;
  each_option(plain,
              [&](const char*, const auto& value, const char*) { defaults.push_back(fmt::format("{}", value)); });
  size_t n = 0;
  each_option(options, [&](const char* name, const auto& value, const char*) {
    if (fmt::format("{}", value) != defaults[n++]) all.emplace_back(name);
  });
  return all;
}

}  // namespace

const List<Entry>& all() {
#define HEED_ADDRESS(name) &name##_entry,
  static const List<Entry> list("objective", {HEED_OBJECTIVES(HEED_ADDRESS)});
#undef HEED_ADDRESS
  return list;
}

std::vector<std::string> problems(const Options& options, const model::Options& model) {
  std::vector<std::string> reasons;
  const Entry& entry = find(options.name);
  for (const std::string& key : changed(options)) {
    if (reads(entry, key)) continue;
    std::string readers;
    for (const Entry* each : all())
      if (reads(*each, key)) readers += fmt::format("{}\"{}\"", readers.empty() ? "" : " or ", each->name);
    reasons.push_back(fmt::format("train.{} has no effect with train.objective = \"{}\"; it belongs to {}", key,
                                  entry.name, readers));
  }
  const task::Task& task = task::find(model.task);
  const bool for_sources = task.answers() == task::AnswerKind::text;
  if ((entry.needs_pairs && !for_sources) || (entry.needs_writer && !task.writes()))
    reasons.push_back(
        fmt::format("train.objective = \"{}\" needs a model that writes texts{}, not one of "
                    "model.task = \"{}\"",
                    entry.name, entry.needs_pairs ? " for texts or for pictures" : "", model.task));
  if (has_noise(options) && !task.writes())
    reasons.push_back(
        fmt::format("train.noise_wrong, noise_dropped and noise_swapped change what a decoder reads, and "
                    "a model of model.task = \"{}\" has none",
                    model.task));
  if (!entry.refuses) return reasons;
  if (std::string reason = entry.refuses(options, model); !reason.empty()) reasons.push_back(std::move(reason));
  return reasons;
}

}  // namespace heed::objective
