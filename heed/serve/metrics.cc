#include "heed/serve/metrics.h"

#include <fmt/format.h>

namespace heed::serve {

void Histogram::add(double value) {
  for (size_t i = 0; i < kSeconds.size(); ++i)
    if (value <= kSeconds[i]) ++counts_[i];
  ++count_;
  sum_ += value;
}

std::string Histogram::text(const std::string& name, const std::string& labels) const {
  std::string all;
  const std::string before = labels.empty() ? "" : labels + ",";
  for (size_t i = 0; i < kSeconds.size(); ++i)
    all += fmt::format("{}_bucket{{{}le=\"{}\"}} {}\n", name, before, kSeconds[i], counts_[i]);
  all += fmt::format("{}_bucket{{{}le=\"+Inf\"}} {}\n", name, before, count_);
  const std::string braces = labels.empty() ? "" : "{" + labels + "}";
  return all + fmt::format("{0}_sum{1} {2}\n{0}_count{1} {3}\n", name, braces, sum_, count_);
}

void Metrics::add_request(const std::string& route, int status, double seconds) {
  const std::lock_guard lock(mutex_);
  ++requests_[{route, status}];
  seconds_[route].add(seconds);
}

void Metrics::add_lines(uint64_t lines, uint64_t tokens) {
  const std::lock_guard lock(mutex_);
  lines_ += lines;
  tokens_ += tokens;
}

void Metrics::add_go(uint64_t jobs) {
  const std::lock_guard lock(mutex_);
  ++goes_;
  jobs_ += jobs;
}

std::string Metrics::text(const Gauges& now) const {
  const std::lock_guard lock(mutex_);
  std::string all;
  const auto head = [&](const char* name, const char* type, const char* meaning) {
    all += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, meaning, name, type);
  };
  const auto one = [&](const char* name, const char* type, const char* meaning, auto value) {
    head(name, type, meaning);
    all += fmt::format("{} {}\n", name, value);
  };
  head("heed_requests_total", "counter", "Requests that were answered, by route and status.");
  for (const auto& [key, count] : requests_)
    all += fmt::format("heed_requests_total{{route=\"{}\",status=\"{}\"}} {}\n", key.first, key.second, count);
  head("heed_request_seconds", "histogram", "Time from the last byte of a request to the last byte of its answer.");
  for (const auto& [route, histogram] : seconds_)
    all += histogram.text("heed_request_seconds", fmt::format("route=\"{}\"", route));
  one("heed_requests_cut_total", "counter", "Requests whose client left before the answer was complete.", cut_);
  one("heed_texts_total", "counter", "Texts that models have answered.", lines_);
  one("heed_tokens_total", "counter", "Tokens that models have written.", tokens_);
  one("heed_batches_total", "counter", "Calls of a model.", goes_);
  one("heed_batched_jobs_total", "counter", "Jobs in these calls; divided by the calls: the mean size of a batch.",
      jobs_);
  one("heed_connections", "gauge", "Open connections.", now.connections);
  one("heed_jobs_waiting", "gauge", "Jobs that wait for a thread.", now.waiting);
  one("heed_jobs_running", "gauge", "Jobs that are being done.", now.running);
  one("heed_reloads_total", "counter", "Times that all models were loaded again.", reloads_);
  one("heed_reloads_failed_total", "counter", "Times that at least one could not be.", failed_reloads_);
  head("heed_model_version", "gauge", "Counts how often models were loaded.");
  for (const auto& [model, version] : now.versions) {
    std::string name;
    for (const char c : model)
      name += c == '"' || c == '\\' ? std::string{'\\', c} : c == '\n' ? "\\n" : std::string{c};
    all += fmt::format("heed_model_version{{model=\"{}\"}} {}\n", name, version);
  }
  return all;
}

}  // namespace heed::serve
