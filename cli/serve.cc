// heed serve: models over HTTP, and the page that shows what they attend to.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <fstream>
#include <memory>

#include "cli/counter.h"
#include "cli/options.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "heed/base/error.h"
#include "heed/kernels/threads.h"
#include "heed/serve/api.h"
#include "heed/serve/server.h"

namespace heed::cli {

namespace {

struct ServeArguments {
  std::vector<std::string> models;
  std::string checkpoint = "best";
  ModelChoice precision;  // nothing else of it
  serve::ServerOptions server;
  int64_t max_body = 1024 * 1024;
  double time_limit = 30, read_timeout = 10, idle_timeout = 60, grace = 30, drain = 0, watch = 0;
  std::string token_file, cors;
};

std::chrono::milliseconds milliseconds(double seconds) {
  return std::chrono::milliseconds(static_cast<int64_t>(seconds * 1000));
}

/// The first line of the file.
std::string token_in(const std::string& name) {
  std::ifstream file(readable(name));
  std::string token;
  std::getline(file, token);
  while (!token.empty() && (token.back() == '\r' || token.back() == ' ')) token.pop_back();
  expect(!token.empty(), ErrorKind::data, "'{}' has no token in its first line", name);
  return token;
}

void run(ServeArguments& c) {
  std::vector<serve::ModelSource> sources;
  for (const std::string& model : c.models) {
    sources.push_back(serve::model_source(model, c.checkpoint));
    sources.back().precision = c.precision.precision;
  }
  serve::ServerOptions& o = c.server;
  o.http.limits.body = static_cast<uint64_t>(c.max_body);
  o.http.read_timeout = milliseconds(c.read_timeout);
  o.http.idle_timeout = milliseconds(c.idle_timeout);
  o.http.grace = milliseconds(c.grace);
  o.drain = milliseconds(c.drain);
  o.watch = milliseconds(c.watch);
  o.api.limits.time = milliseconds(c.time_limit);
  o.work.threads = kernels::most_threads();
  if (!c.token_file.empty()) o.api.token = token_in(c.token_file);
  if (!c.cors.empty()) {
    o.api.cross_origin = true;
    o.http.headers = {{"Access-Control-Allow-Origin", c.cors}, {"Vary", "Origin"}};
  }
  o.work.pixels = o.api.limits.pixels;
  serve::Server server(sources, o, [](const std::string& text) { warn(text); });
  std::vector<std::string> names;
  for (const serve::Models::Model& model : server.models().all()) names.push_back(model->name);
  if (o.api.token.empty() && !server.for_this_machine())
    warn(
        fmt::format("--host {}: other machines can reach this server, and it asks for no token; --token-file FILE does",
                    o.http.host));
  print(fmt::format("heed: serving {} on {}\n", fmt::join(names, ", "), server.address()));
  std::fflush(stdout);
  if (!server.run()) warn("some requests were not finished within --grace");
}

constexpr const char* kHelp = R"(Examples:
  heed serve dates-model                          then open http://127.0.0.1:8080/
  heed serve en-de fr=runs/7 --port 9000          two models; the second is called fr
  heed serve en-de --host 0.0.0.0 --token-file token --log access.jsonl
  curl -s localhost:8080/v1/predict -H 'Content-Type: application/json' -d '{"input": "a dog runs ."}'

The page shows what the model attends to while you type. Programs use /v1/predict, /v1/score, /v1/attention and, for
models of running text, /v1/completions as OpenAI's clients call it; /openapi.json describes them, and so does
docs/serve.md. Requests of many clients are answered together. SIGTERM finishes what runs; SIGHUP loads the models again
without losing a request. There is no TLS: outside of one machine, put a proxy in front.)";

}  // namespace

void add_serve(Program& program) {
  auto c = std::make_shared<ServeArguments>();
  Verb verb = program.verb("serve", "Answer requests over HTTP, and show what models attend to in a browser");
  serve::HttpOptions& http = c->server.http;
  serve::RequestLimits& limits = c->server.api.limits;
  verb.option("MODELS", c->models,
              "Training folders, checkpoints, or files from heed export; NAME=MODEL chooses what requests call it")
      .value("")
      .required();
  verb.option("--checkpoint", c->checkpoint, "Which checkpoint of a folder: best, last, or a name (default best)")
      .value("NAME")
      .offer({"best", "last"});
  add_precision(verb, c->precision);
  verb.option("--host", http.host, "Address to listen on; 0.0.0.0: all of this machine (default 127.0.0.1)")
      .value("ADDRESS");
  verb.option("--port", http.port, "Port; 0: one that is free (default 8080)")
      .value("N")
      .from_to(int64_t{0}, int64_t{65535});
  verb.option("--token-file", c->token_file, "Ask for the token in the first line of this file (Authorization: Bearer)")
      .value("FILE");
  verb.option("--cors", c->cors, "Pages of this origin may use the server; *: all (default: none but its own)")
      .value("ORIGIN");
  verb.option("--host-name", c->server.api.host_names,
              "A name by which requests may call a server on 127.0.0.1 without a token; may be repeated")
      .value("NAME")
      .repeated();
  verb.option("--log", c->server.log, "Write a line of JSON for each request; - is standard error (default: none)")
      .value("FILE");
  verb.option("--max-body", c->max_body, "Largest body of a request, in bytes (default 1048576)")
      .value("N")
      .from_to(int64_t{1}, int64_t{1} << 30);
  verb.option("--max-text", limits.text, "Longest text, in characters (default 5000)")
      .value("N")
      .from_to(int64_t{1}, int64_t{1} << 30);
  verb.option("--max-texts", limits.lines, "Texts of one request (default 64)")
      .value("N")
      .from_to(int64_t{1}, int64_t{100'000});
  verb.option("--max-beam", limits.beam, "Widest beam, and most outputs of a text (default 16)")
      .value("N")
      .from_to(int64_t{1}, task::kWidest);
  verb.option("--max-length", limits.length, "Longest output, in tokens (default: as the model was trained)")
      .value("N")
      .from_to(int64_t{1}, task::kLongest);
  verb.option("--max-tokens", limits.tokens, "Tokens of an input or output whose attention is shown (default 4096)")
      .value("N")
      .from_to(int64_t{1}, int64_t{1} << 20);
  verb.option("--max-weights", limits.weights, "Attention weights that one request computes (default 16777216)")
      .value("N")
      .from_to(int64_t{1}, int64_t{1} << 32);
  verb.option("--max-answer", limits.answer, "Largest answer, in bytes (default 33554432)")
      .value("N")
      .from_to(int64_t{1024}, int64_t{1} << 32);
  verb.option("--max-pixels", limits.pixels, "Largest picture, in pixels (default 16777216)")
      .value("N")
      .from_to(int64_t{1}, data::kMostPixels);
  verb.option("--max-connections", http.max_connections, "Open connections (default 20000)")
      .value("N")
      .from_to(int64_t{1}, int64_t{1'000'000});
  verb.option("--per-client", limits.of_a_client, "Requests of one address at the same time (default: any number)")
      .value("N")
      .from_to(int64_t{1}, int64_t{1'000'000});
  verb.option("--queue", c->server.work.waiting,
              "Texts that wait for a thread; more are refused with 503 (default 256)")
      .value("N")
      .from_to(int64_t{1}, int64_t{1'000'000});
  verb.option("--batch", c->server.work.together, "Texts that a thread answers together (default 32)")
      .value("N")
      .from_to(int64_t{1}, int64_t{4096});
  constexpr double kDay = 86400;
  verb.option("--time-limit", c->time_limit, "Seconds for an answer (default 30)").value("S").from_to(0.001, kDay);
  verb.option("--read-timeout", c->read_timeout, "Seconds for a request to arrive (default 10)")
      .value("S")
      .from_to(0.01, kDay);
  verb.option("--idle-timeout", c->idle_timeout,
              "Seconds for which a connection stays open without a request (default 60)")
      .value("S")
      .from_to(0.01, kDay);
  verb.option("--grace", c->grace, "Seconds to finish what runs when it is to stop (default 30)")
      .value("S")
      .from_to(0.0, kDay);
  verb.option("--drain", c->drain,
              "Seconds in which it still takes requests after SIGTERM, while /readyz already says 503 (default 0)")
      .value("S")
      .from_to(0.0, kDay);
  verb.option("--watch", c->watch,
              "Look every S seconds for better checkpoints of a running training, and take them (default: SIGHUP only)")
      .value("S")
      .from_to(0.1, kDay);
  add_threads(verb);
  verb.footer(kHelp);
  verb.run([c] { run(*c); });
}

void add_openapi(Program& program) {
  Verb verb = program.unlisted_verb("openapi", "The description of the routes of heed serve, for makers of clients");
  verb.run([] { print(serve::openapi_document()); });
}

}  // namespace heed::cli
