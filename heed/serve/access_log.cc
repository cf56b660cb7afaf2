#include "heed/serve/access_log.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <utility>

#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/text/visible.h"

namespace heed::serve {

AccessLog::AccessLog(std::string file) : name_(std::move(file)) { open(); }

AccessLog::~AccessLog() {
  if (file_ && file_ != stderr) std::fclose(file_);
}

void AccessLog::open() {
  if (name_.empty()) return;
  std::FILE* opened = name_ == "-" ? stderr : std::fopen(name_.c_str(), "ae");
  expect(opened != nullptr, ErrorKind::cannot_write, "cannot write the log '{}': {}", name_, std::strerror(errno));
  if (file_ && file_ != stderr) std::fclose(file_);
  file_ = opened;
}

void AccessLog::reopen() {
  try {
    open();
  } catch (const Error&) {
    // The old file is as good as before.
  }
}

void AccessLog::write(const Finished& finished) {
  if (!file_) return;
  using std::chrono::system_clock;
  const auto now = std::chrono::floor<std::chrono::milliseconds>(system_clock::now());
  const auto milliseconds = now.time_since_epoch().count() % 1000;
  file::Json line = file::Json::object(
      {{"time", fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", fmt::gmtime(system_clock::to_time_t(now)), milliseconds)},
       {"id", finished.id},
       {"client", finished.client}});
  if (finished.exchange) {
    line["method"] = finished.exchange->request().method;
    line["path"] = finished.exchange->request().path;
  }
  line["status"] = finished.status;
  line["bytes"] = finished.bytes;
  line["ms"] = std::round(finished.seconds * 1e6) / 1e3;
  if (!finished.complete) line["cut"] = true;
  if (finished.exchange)
    for (const auto& [name, value] : finished.exchange->told()) line[name] = value;
  const std::string text = text::visible(line.line()) + "\n";  // it may be read on a terminal
  std::fwrite(text.data(), 1, text.size(), file_);
  std::fflush(file_);
}

}  // namespace heed::serve
