// heed serve: models, routes, threads and sockets together.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <thread>

#include "heed/serve/access_log.h"
#include "heed/serve/api.h"
#include "heed/serve/http_server.h"
#include "heed/serve/metrics.h"
#include "heed/serve/models.h"
#include "heed/serve/work_queue.h"

namespace heed::serve {

struct ServerOptions {
  HttpOptions http = {};
  ApiOptions api = {};
  WorkLimits work = {};
  std::string log = {};                // AccessLog
  std::chrono::milliseconds drain{0};  // after SIGTERM: not ready any more, but requests are still taken
  std::chrono::milliseconds watch{0};  // how often to look for better checkpoints of the models; 0: never
};

/// Threads: one.
class Server {
 public:
  /// Loads the models and listens. `note`: told what the people who run it should know, from any thread.
  Server(std::span<const ModelSource> models, const ServerOptions& options,
         std::function<void(const std::string&)> note);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  const Models& models() const { return models_; }
  std::string address() const { return http_.address(); }
  bool for_this_machine() const { return http_.for_this_machine(); }  // nobody else can reach it

  /// Serves until SIGTERM or SIGINT; then, after the time to drain, finishes what runs. The second of these signals
  /// ends the process, as if nobody had cared about it. SIGHUP loads the models again, and opens the log again. Returns
  /// whether everything was answered.
  bool run();

 private:
  void on_signal(int signal);
  void reload(Models::Which which);
  void reload_once(Models::Which which) noexcept;

  std::chrono::milliseconds drain_;
  std::function<void(const std::string&)> note_;
  Models models_;
  Metrics metrics_;
  AccessLog log_;
  bool stopping_ = false;
  HttpServer http_;  // outlives the queue, whose jobs answer through it
  WorkQueue queue_;
  Api api_;
  std::thread reloader_;
  std::atomic<int> reloads_{0};          // wanted, with the one that is under way
  std::atomic<bool> reload_all_{false};  // one of them is of all models
};

}  // namespace heed::serve
