// Many clients that ask one server at once: each sends its next request when the last one was answered.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "bench/serve/questions.h"

namespace heed::bench {

struct LoadOptions {
  int port = 0;          // on 127.0.0.1
  int connections = 1;   // each is kept alive
  double seconds = 10;   // counted, after the warm-up
  double warm_up = 1;    // seconds
  double patience = 30;  // seconds that are waited for the last answers; what has not come then is lost
};

struct LoadReport {
  int64_t sent = 0;
  int64_t answered = 0;
  int64_t wrong = 0;  // another status than 200, or another output
  int64_t lost = 0;   // the connection ended before the answer, or no answer came
  std::map<int, int64_t> statuses = {};
  std::string first_wrong = {};  // its status and the beginning of its body
  // Of the answers that came in the counted seconds:
  double requests_per_s = 0;
  double p50_ms = 0, p90_ms = 0, p99_ms = 0, max_ms = 0;
};

/// Throws Error if the server cannot be reached.
LoadReport run_load(const Questions& questions, const LoadOptions& options);

}  // namespace heed::bench
