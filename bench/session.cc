#include "session.h"

#include <omp.h>

#include <filesystem>
#include <functional>

#include "case.h"
#include "mechanism.h"
#include "sgemm.h"
#include "timing.h"

namespace heed::bench {

using nlohmann::json;

std::vector<std::string> all_names() {
  std::vector<std::string> names;
  for (const CaseSpec& spec : all_cases()) names.push_back(spec.name);
  for (const CaseSpec& spec : decode_cases()) names.push_back(spec.name);
  for (const std::string& name : mechanism_cases()) names.push_back(name);
  return names;
}

std::unique_ptr<Contest> make_contest(const std::string& name) {
  if (const CaseSpec* spec = find_case(name)) return std::make_unique<Case>(*spec);
  return make_mechanism_case(name);
}

void Session::make_yardstick() {
  if (!a_.empty()) return;
  const int64_t size = kYardstick * kYardstick;
  a_ = Buffer(size);
  b_ = Buffer(size);
  c_ = Buffer(size);
  fill_random(a_, 1);
  fill_random(b_, 2);
  fill_zero(c_);
}

json Session::open(const std::vector<std::string>& names, const std::string& dump) {
  contests_.clear();
  rounds_ = 0;
  json reply = json::object();
  omp_set_num_threads(omp_get_num_procs());
  for (const std::string& name : names) {
    auto current = make_contest(name);
    json& about = reply[name] = current->describe();
    current->check(about);
    if (about.contains("error")) continue;
    if (!dump.empty()) {
      const std::string folder = (std::filesystem::path(dump) / name).string();
      std::error_code failed;
      std::filesystem::create_directories(folder, failed);
      if (failed || !current->dump(folder)) about["dump_error"] = "could not write to " + folder;
      about["dump"] = folder;
    }
    if (current->wants_sgemm()) make_yardstick();
    contests_.push_back(std::move(current));
  }
  return reply;
}

json Session::round(int threads) {
  omp_set_num_threads(threads);
  json reply = {{"cases", json::object()}};
  std::vector<std::function<void()>> samples;
  bool sgemm_wanted = false;
  for (const auto& contest : contests_) sgemm_wanted |= contest->wants_sgemm();
  if (sgemm_wanted)
    samples.emplace_back([&] {
      reply["sgemm"] = sample_ms([&] {
        sgemm({.m = kYardstick, .n = kYardstick, .k = kYardstick, .a = a_.data(), .b = b_.data(), .c = c_.data()});
      });
    });
  for (const auto& contest : contests_) {
    json& times = reply["cases"][contest->name()];
    for (auto& [who, run] : contest->contestants())
      samples.emplace_back([who = who, run = run, threads, &times] { times[who] = sample_ms([&] { run(threads); }); });
  }
  // Every other round backwards: whoever follows a heavy neighbour should not do so always.
  if (rounds_++ % 2 == 0)
    for (auto it = samples.begin(); it != samples.end(); ++it) (*it)();
  else
    for (auto it = samples.rbegin(); it != samples.rend(); ++it) (*it)();
  return reply;
}

}  // namespace heed::bench
