#include "heed/train/log.h"

#include <optional>
#include <utility>

#include "heed/base/atomic.h"
#include "heed/base/error.h"
#include "heed/base/json.h"

namespace heed::train {

namespace {

using file::Json;

/// The lines of a log up to the one of update `last`. A line that is cut off in the middle is dropped.
std::string until(const std::filesystem::path& path, int64_t last) {
  std::ifstream in(path);
  std::string kept;
  for (std::string line; std::getline(in, line);) {
    const std::optional<Json> json = Json::parse(line);
    if (!json || !json->as<Json::Members>()) continue;
    const Json* step = json->find("step");
    if (step && step->as<uint64_t>() && *step->as<uint64_t>() > static_cast<uint64_t>(last)) break;
    const Json* event = json->find("event");
    if (!event || !event->as<std::string>() || *event->as<std::string>() != "finished") kept += line + "\n";
  }
  expect(!in.bad(), ErrorKind::file, "'{}' could not be read", path.string());
  return kept;
}

}  // namespace

Log::Log(std::filesystem::path path, int64_t every)
    : EventLines(every, [this](const std::string& line) { write(line); }), path_(std::move(path)) {}

void Log::write(const std::string& line) {
  if (!file_.is_open()) {
    early_ += line;
    return;
  }
  file_ << line << std::flush;
  expect(file_.good(), ErrorKind::cannot_write, "'{}' could not be written; nothing more will be written to it",
         path_.string());
}

void Log::started(const Started& s) {
  // A resumed training reads it; and a pipe that nobody reads would hold up the training.
  std::error_code ignored;
  const std::filesystem::file_status there = std::filesystem::status(path_, ignored);
  expect(!std::filesystem::exists(there) || std::filesystem::is_regular_file(there), ErrorKind::cannot_write,
         "'{}' is not an ordinary file, so nothing will be written to it", path_.string());
  file::write_file(path_, s.resumed_from > 0 ? until(path_, s.resumed_from) : "");
  file_.open(path_, std::ios::app);
  EventLines::started(s);
  write(std::exchange(early_, ""));
}

}  // namespace heed::train
