// heed-bench: times heed's kernels against sgemm and the plain composition. `make bench` drives it through run.py,
// which adds the peers; alone it prints a short table.
#include <fmt/core.h>
#include <omp.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "blas_table.h"
#include "case.h"
#include "format_table.h"
#include "heed/kernels/isa.h"
#include "peak_memory.h"
#include "product_table.h"
#include "session.h"

namespace heed::bench {
namespace {

using nlohmann::json;

constexpr const char* kHelp = R"(heed-bench [options]
  --case A,B      only these cases (default: those of the kernels); --list names them all
  --threads 1,2   numbers of threads (default: 1 and 2)
  --rounds N      rounds of interleaved samples (default: 7)
  --serve         requests as JSON lines on standard input, replies on standard output (see README.md)
  --decode        instead of those cases one query on long memories: 1, 8, 64 sequences, 128 to 65536 keys
  --memory SCORE  peak memory of forward and backward at T 16384, D 64; SCORE is inner or tanh_sum
  --blas          oneDNN beside other BLAS libraries, and beside heed's own products, on the shapes that matter
  --formats       products with weights in bfloat16 and int8, beside float32
)";

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, ',');)
    if (!part.empty()) parts.push_back(part);
  return parts;
}

bool known(const std::string& name) {
  const std::vector<std::string> names = all_names();
  return std::find(names.begin(), names.end(), name) != names.end();
}

struct Options {
  std::vector<std::string> cases;
  std::vector<int> threads;
  int rounds = 7;
  bool serve = false, list = false, blas = false, formats = false, help = false;
  std::string memory;
  std::string error;
};

Options parse(int argc, char** argv) {
  Options o;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    const auto value = [&]() -> std::string {
      if (i + 1 < argc) return argv[++i];
      o.error = name + " needs a value";
      return "";
    };
    if (name == "--case") {
      o.cases = split(value());
    } else if (name == "--threads") {
      for (const std::string& n : split(value())) o.threads.push_back(std::atoi(n.c_str()));
    } else if (name == "--rounds") {
      o.rounds = std::atoi(value().c_str());
    } else if (name == "--memory") {
      o.memory = value();
    } else if (name == "--serve") {
      o.serve = true;
    } else if (name == "--decode") {
      for (const CaseSpec& spec : decode_cases()) o.cases.push_back(spec.name);
    } else if (name == "--list") {
      o.list = true;
    } else if (name == "--blas") {
      o.blas = true;
    } else if (name == "--formats") {
      o.formats = true;
    } else if (name == "--help" || name == "-h") {
      o.help = true;
    } else {
      o.error = "unknown option " + name;
    }
  }
  if (o.threads.empty()) o.threads = omp_get_num_procs() > 1 ? std::vector<int>{1, 2} : std::vector<int>{1};
  for (int n : o.threads)
    if (n < 1) o.error = "--threads takes numbers from 1 on";
  if (o.rounds < 1) o.error = "--rounds takes a number from 1 on";
  if (o.cases.empty())
    for (const CaseSpec& spec : all_cases()) o.cases.push_back(spec.name);
  for (const std::string& name : o.cases)
    if (!known(name)) o.error = "there is no case " + name + "; --list names them";
  if (!o.memory.empty() && o.memory != "inner" && o.memory != "tanh_sum") o.error = "--memory takes inner or tanh_sum";
  return o;
}

json reply_to(const json& request, Session& session) {
  const std::string op = request.value("op", "");
  if (op == "hello") return {{"name", "heed"}, {"isa", kernels::isa()}, {"yardstick_flops", kYardstickFlops}};
  if (op == "open") {
    const auto names = request.at("cases").get<std::vector<std::string>>();
    for (const std::string& name : names)
      if (!known(name)) return {{"error", "there is no case " + name}};
    return {{"cases", session.open(names, request.value("dump", ""))}};
  }
  if (op == "round") return session.round(request.at("threads").get<int>());
  return {{"error", "unknown request " + op}};
}

int serve() {
  Session session;
  for (std::string line; std::getline(std::cin, line);) {
    json reply;
    try {
      reply = reply_to(json::parse(line), session);
    } catch (const std::exception& problem) {
      reply = {{"error", problem.what()}};
    }
    std::cout << reply.dump() << std::endl;
  }
  return 0;
}

int memory(const Options& o) {
  const auto score = o.memory == "inner" ? kernels::ScoreKind::inner : kernels::ScoreKind::tanh_sum;
  const MemoryResult result = measure_memory(score, 16384, 64, o.threads.front());
  json row = {{"score", o.memory},
              {"threads", o.threads.front()},
              {"peak_mb", result.peak_mb},
              {"tensors_mb", result.tensors_mb},
              {"ms", result.ms}};
  if (!result.error.empty()) row["error"] = result.error;
  std::cout << row.dump() << std::endl;
  return result.error.empty() ? 0 : 1;
}

/// Best of the rounds. On a shared machine noise only ever adds time.
double best_of(const std::vector<json>& rounds, const std::vector<std::string>& keys) {
  double best = 1e30;
  for (const json& round : rounds) {
    const json* at = &round;
    for (const std::string& key : keys) {
      if (!at->contains(key)) return 0.0;
      at = &(*at)[key];
    }
    best = std::min(best, at->get<double>());
  }
  return best;
}

int table(const Options& o) {
  fmt::print("instruction set {}\n{:<19} {:>7} {:>10} {:>8} {:>9} {:>9}\n", kernels::isa(), "case", "threads", "ms",
             "GFLOP/s", "of sgemm", "vs plain");
  Session session;
  bool failed = false;
  for (const std::string& name : o.cases) {
    const CaseSpec* spec = find_case(name);
    const json about = session.open({name}, "")[name];
    if (about.contains("error")) {
      fmt::print("{:<19} {}\n", name, about["error"].get<std::string>());
      failed = true;
      continue;
    }
    for (int threads : o.threads) {
      std::vector<json> rounds;
      rounds.reserve(static_cast<size_t>(o.rounds));
      for (int n = 0; n < o.rounds; ++n) rounds.push_back(session.round(threads));
      const double ms = best_of(rounds, {"cases", name, "heed"}), plain = best_of(rounds, {"cases", name, "plain"});
      const double sgemm = best_of(rounds, {"sgemm"});
      const double read =
          std::min(best_of(rounds, {"cases", name, "read_one"}), best_of(rounds, {"cases", name, "read_eight"}));
      if (!spec) {  // a mechanism
        const double tokens = about["tokens"].get<double>();
        fmt::print("{:<34} {:>7} {:>10.3f}   {:.0f} tokens/s\n", name, threads, ms, tokens / ms * 1e3);
        continue;
      }
      const double flops = spec->flops();
      const std::string share = sgemm > 0 ? fmt::format("{:.2f}", flops / ms / (kYardstickFlops / sgemm)) : "";
      fmt::print("{:<19} {:>7} {:>10.3f} {:>8.1f} {:>9}", name, threads, ms, flops / ms * 1e-6, share);
      if (plain > 0) fmt::print(" {:>8.2f}x", plain / ms);
      if (spec->score != kernels::ScoreKind::inner)
        fmt::print("   {:.2f}e9 pair-dimensions/s per core", spec->pair_dims() / ms * 1e-6 / threads);
      if (read > 0) fmt::print("   {:.1f} GB/s, {:.2f} of the read bandwidth", spec->kv_bytes() / ms * 1e-6, read / ms);
      fmt::print("\n");
      std::fflush(stdout);
    }
  }
  return failed ? 1 : 0;
}

int run(int argc, char** argv) {
  const Options o = parse(argc, argv);
  if (!o.error.empty()) {
    fmt::print(stderr, "heed-bench: {}\n{}", o.error, kHelp);
    return 2;
  }
  if (o.help) {
    fmt::print("{}", kHelp);
    return 0;
  }
  if (o.list) {
    for (const std::string& name : all_names()) fmt::print("{}\n", name);
    return 0;
  }
  if (const kernels::Status isa = kernels::isa_status(); !isa) {
    fmt::print(stderr, "heed-bench: {}\n", isa.message());
    return 2;
  }
  if (o.blas) {
    for (int threads : o.threads) print_blas_table(threads), print_product_table(threads);
    return 0;
  }
  if (o.formats) {
    for (int threads : o.threads) print_format_table(threads);
    return 0;
  }
  if (!o.memory.empty()) return memory(o);
  return o.serve ? serve() : table(o);
}

}  // namespace
}  // namespace heed::bench

int main(int argc, char** argv) { return heed::bench::run(argc, argv); }
