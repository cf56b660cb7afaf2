// heed-bench-train: trainings, timed. `make bench-train` drives it through bench/train.py, which adds the peers.
//
//   heed-bench-train                         requests as JSON lines on standard input, replies on standard output:
//     {"op": "open", "case": NAME, "data": FOLDER, "folder": FOLDER, "batches": N}   writes what the peers need
//     {"op": "losses", "updates": N}                    of the first updates, without dropout
//     {"op": "run", "threads": N, "updates": N, "training": N}        seconds and target tokens of the next updates
//     {"op": "profile", "threads": N, "updates": N, "training": N}    seconds by kind of work
//   heed-bench-train --memory CASE DATA THREADS         peak memory of some updates, in a process of its own
#include <fmt/format.h>
#include <sys/resource.h>

#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>

#include "bench/json_lines.h"
#include "heed/base/error.h"
#include "heed/kernels/isa.h"
#include "heed/tensor/profile.h"
#include "training.h"

namespace heed::bench {
namespace {

using nlohmann::json;

json profile(Training& training, const json& request) {
  Profile profile;
  Training::Times times;
  {
    const Profiling profiling(&profile);
    times = training.run(request.at("threads"), request.at("updates"), request.at("training"));
  }
  json parts;
  double known = 0;
  for (size_t i = 0; i < kWorkNames.size(); ++i) {
    parts[kWorkNames[i]] = profile.seconds[i];
    known += profile.seconds[i];
  }
  parts["other"] = profile.all - known;
  return {{"seconds", profile.all}, {"tokens", times.tokens}, {"parts", parts}};
}

json answer(const json& request, std::optional<Training>& training) {
  const std::string op = request.at("op");
  if (op == "hello") return {{"isa", kernels::isa()}, {"cases", training_cases()}};
  if (op == "open") {
    training.emplace(request.at("case").get<std::string>(), request.at("data").get<std::string>());
    training->write(request.at("folder").get<std::string>(), request.at("batches"));
    return {{"parameters", training->parameters()}, {"vocabulary", training->vocabulary()}};
  }
  expect(training.has_value(), "nothing is open");
  if (op == "losses") return {{"losses", training->first_losses(request.at("updates"))}};
  if (op == "profile") return profile(*training, request);
  expect(op == "run", "there is no op '{}'", op);
  const Training::Times times = training->run(request.at("threads"), request.at("updates"), request.at("training"));
  return {{"seconds", times.seconds}, {"tokens", times.tokens}};
}

/// 1e6 bytes that the process held at most.
double peak_mb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024e-6;
}

int memory(const char* name, const char* data, int threads) {
  Training training(name, data);
  training.run(threads, 12, 0);
  std::cout << json{{"peak_mb", peak_mb()}} << std::endl;
  return 0;
}

int serve() {
  std::optional<Training> training;
  reply_to_lines([&](const json& request) { return answer(request, training); });
  return 0;
}

}  // namespace
}  // namespace heed::bench

int main(int argc, char** argv) {
  try {
    if (argc == 5 && std::string_view(argv[1]) == "--memory")
      return heed::bench::memory(argv[2], argv[3], std::atoi(argv[4]));
    if (argc == 1) return heed::bench::serve();
  } catch (const heed::Error& error) {
    fmt::print(stderr, "heed-bench-train: {}\n", error.what());
    return 1;
  }
  fmt::print(stderr, "usage: heed-bench-train [--memory CASE DATA THREADS]; make bench-train runs it\n");
  return 64;
}
