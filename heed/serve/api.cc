#include "heed/serve/api.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <openssl/crypto.h>

#include <algorithm>

#include "heed/serve/failure.h"
#include "heed/serve/host_name.h"

namespace heed::serve {

namespace {

constexpr Route kRoutes[] = {
    {"GET", "/", page_route, true},
    {"GET", "/healthz", health_route, true},
    {"GET", "/readyz", ready_route, true},
    {"GET", "/openapi.json", openapi_route, true},
    {"GET", "/metrics", metrics_route},
    {"GET", "/v1/models", models_route},
    {"GET", "/v1/training", training_route},
    {"POST", "/v1/predict", predict_route},
    {"POST", "/v1/score", score_route},
    {"POST", "/v1/attention", attention_route},
    {"POST", "/v1/completions", completion_route},
};

const Route* route_of(const std::string& path) {
  const auto* route =
      std::find_if(std::begin(kRoutes), std::end(kRoutes), [&](const Route& r) { return path == r.path; });
  return route == std::end(kRoutes) ? nullptr : route;
}

const Route& find_route(const Request& request) {
  const Route* route = route_of(request.path);
  if (!route) {
    std::vector<std::string> all;
    for (const Route& each : kRoutes) all.push_back(fmt::format("{} {}", each.method, each.path));
    throw Failure(404, "not_found", fmt::format("There is nothing at this path. There are: {}.", fmt::join(all, ", ")));
  }
  const bool head = request.method == "HEAD" && std::string_view(route->method) == "GET";
  if (request.method != route->method && !head)
    throw Failure(405, "method", fmt::format("{} takes {}, not {}.", route->path, route->method, request.method),
                  {{"Allow", route->method}});
  return *route;
}

/// Takes as long for a wrong token as for the right one. The word Bearer may be written in any case (RFC 9110, 11.1).
void check_token(const Request& request, const std::string& token) {
  if (token.empty()) return;
  constexpr std::string_view kScheme = "Bearer ";
  const std::string_view header = request.authorisation;
  const std::string_view given = header.substr(std::min(kScheme.size(), header.size()));
  if (equal_in_any_case(header.substr(0, kScheme.size()), kScheme) && given.size() == token.size() &&
      CRYPTO_memcmp(given.data(), token.data(), token.size()) == 0)
    return;
  throw Failure(401, "unauthorised",
                header.empty() ? "This server asks for a token: Authorization: Bearer TOKEN." : "The token is wrong.");
}

void check_host(const Request& request, const ApiOptions& options) {
  if (options.any_host || is_called_rightly(request.host, options.host_names)) return;
  throw Failure(
      421, "host",
      fmt::format("This server is for its own machine and has no token, so it answers only if it is called by its "
                  "address or localhost, not '{}'; heed serve --host-name NAME allows a name.",
                  request.host));
}

/// A page of another origin can send a form or plain text without asking; JSON it cannot.
void check_type(const Request& request) {
  std::string_view type = std::string_view(request.content_type).substr(0, request.content_type.find(';'));
  while (!type.empty() && type.back() == ' ') type.remove_suffix(1);
  if (equal_in_any_case(type, kJsonType)) return;
  throw Failure(415, "content_type",
                fmt::format("The body must be JSON, with Content-Type: {}; the request says '{}'.", kJsonType,
                            request.content_type));
}

Answer preflight() {
  return {.status = 204,
          .headers = {{"Access-Control-Allow-Methods", "GET, POST"},
                      {"Access-Control-Allow-Headers", "Authorization, Content-Type, X-Request-Id"},
                      {"Access-Control-Max-Age", "600"}}};
}

}  // namespace

std::string Api::route_name(const std::string& path) { return route_of(path) ? path : "other"; }

void Api::enqueue(std::vector<std::unique_ptr<Job>> jobs) {
  if (!queue.add(std::move(jobs)))
    throw Failure(503, "overloaded", "The server has too much to do. Please try again in a moment.");
}

void Api::handle(const std::shared_ptr<Exchange>& exchange) {
  const Request& request = exchange->request();
  try {
    if (options.cross_origin && request.method == "OPTIONS") return exchange->answer(preflight());
    const Route& route = find_route(request);
    if (!route.open) {
      check_token(request, options.token);
      check_host(request, options);
    }
    if (std::string_view(route.method) == "POST") {
      check_type(request);
      if (const int64_t most = options.limits.of_a_client; most > 0) {
        const std::shared_ptr<const void> place = clients.enter(request.client, most);
        if (!place)
          throw Failure(429, "too_many_requests",
                        fmt::format("This client has {} requests under way; the server allows no more.", most));
        exchange->keep(place);
      }
    }
    route.run(*this, exchange);
  } catch (const std::exception& error) {
    answer_failure(*exchange, error);
  }
}

}  // namespace heed::serve
