// heed-bench-serve: many clients of one HTTP server, timed. `make bench-serve` drives it through bench/serve.py.
//
// Requests are JSON lines on standard input, replies on standard output:
//   {"op": "run", "port": N, "path": "/v1/predict", "body": "{\"input\": @}", "inputs": FILE, "expected": FILE,
//    "answer": "output", "connections": N, "seconds": S, "warm_up": S}      the fields of questions.h and load.h
//     -> {"sent", "answered", "wrong", "lost", "statuses", "requests_per_s", "p50_ms", "p90_ms", "p99_ms", "max_ms"}
#include <nlohmann/json.hpp>
#include <string>

#include "bench/json_lines.h"
#include "bench/serve/load.h"
#include "bench/serve/questions.h"
#include "heed/base/error.h"
#include "heed/kernels/isa.h"

namespace heed::bench {
namespace {

using nlohmann::json;

json answer(const json& request) {
  const std::string op = request.at("op");
  if (op == "hello") return {{"isa", kernels::isa()}};
  expect(op == "run", "there is no op '{}'", op);
  const Questions questions({.path = request.at("path"),
                             .body = request.at("body"),
                             .inputs = request.at("inputs"),
                             .expected = request.value("expected", ""),
                             .answer = request.value("answer", "output")});
  const LoadOptions defaults;
  const LoadReport report = run_load(questions, {.port = request.at("port"),
                                                 .connections = request.at("connections"),
                                                 .seconds = request.value("seconds", defaults.seconds),
                                                 .warm_up = request.value("warm_up", defaults.warm_up),
                                                 .patience = request.value("patience", defaults.patience)});
  json statuses = json::object();
  for (const auto& [status, count] : report.statuses) statuses[std::to_string(status)] = count;
  json reply = {{"sent", report.sent},     {"answered", report.answered}, {"wrong", report.wrong},
                {"lost", report.lost},     {"statuses", statuses},        {"requests_per_s", report.requests_per_s},
                {"p50_ms", report.p50_ms}, {"p90_ms", report.p90_ms},     {"p99_ms", report.p99_ms},
                {"max_ms", report.max_ms}};
  if (report.wrong > 0) reply["first_wrong"] = report.first_wrong;
  return reply;
}

}  // namespace
}  // namespace heed::bench

int main() {
  heed::bench::reply_to_lines(heed::bench::answer);
  return 0;
}
