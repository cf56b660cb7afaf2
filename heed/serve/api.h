// The routes of the server: a request in, an answer from a model out. docs/serve.md describes them, openapi.json for
// programs.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "heed/serve/clients.h"
#include "heed/serve/http.h"
#include "heed/serve/limits.h"
#include "heed/serve/metrics.h"
#include "heed/serve/models.h"
#include "heed/serve/work_queue.h"

namespace heed::serve {

struct ApiOptions {
  RequestLimits limits = {};
  std::string token = {};     // bearer; empty: none is asked for
  bool cross_origin = false;  // browsers may ask whether pages of other origins may use this
  bool any_host = false;      // a request may call the server by any name; otherwise as host_name.h has it
  std::vector<std::string> host_names = {};
};

/// What the routes work with. It outlives every request.
struct Api {
  ApiOptions options;
  Models& models;
  WorkQueue& queue;
  Metrics& metrics;
  std::function<int64_t()> connections;
  std::function<bool()> stopping;
  Clients clients = {};

  /// Answers, at once or later.
  void handle(const std::shared_ptr<Exchange>& exchange);
  /// The path of a route, or "other".
  static std::string route_name(const std::string& path);

  Clock::time_point deadline() const { return Clock::now() + options.limits.time; }
  /// Throws Failure if there is no room.
  void enqueue(std::vector<std::unique_ptr<Job>> jobs);
};

/// One route of the table in api.cc.
struct Route {
  const char* method;
  const char* path;
  void (*run)(Api&, const std::shared_ptr<Exchange>&);  // may throw: failure_of() is the answer
  bool open = false;                                    // needs no token
};

// predict_route.cc, score_route.cc (which also has attention_route), completion_route.cc; the others: fact_routes.cc
void predict_route(Api& api, const std::shared_ptr<Exchange>& exchange);
void attention_route(Api& api, const std::shared_ptr<Exchange>& exchange);
void score_route(Api& api, const std::shared_ptr<Exchange>& exchange);
void completion_route(Api& api, const std::shared_ptr<Exchange>& exchange);
void models_route(Api& api, const std::shared_ptr<Exchange>& exchange);
void training_route(Api& api, const std::shared_ptr<Exchange>& exchange);
void health_route(Api& api, const std::shared_ptr<Exchange>& exchange);
void ready_route(Api& api, const std::shared_ptr<Exchange>& exchange);
void metrics_route(Api& api, const std::shared_ptr<Exchange>& exchange);
void openapi_route(Api& api, const std::shared_ptr<Exchange>& exchange);
void page_route(Api& api, const std::shared_ptr<Exchange>& exchange);

/// openapi.json, embedded: without the options of decoding.
std::string_view openapi_json();
/// The whole description, as /openapi.json gives it.
std::string openapi_document();

}  // namespace heed::serve
