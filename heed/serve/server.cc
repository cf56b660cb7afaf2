#include "heed/serve/server.h"

#include <fmt/format.h>

#include <csignal>
#include <utility>

namespace heed::serve {

Server::Server(std::span<const ModelSource> models, const ServerOptions& options,
               std::function<void(const std::string&)> note)
    : note_(std::move(note)),
      models_(models),
      log_(options.log),
      http_(
          options.http, [this](const std::shared_ptr<Exchange>& exchange) { api_.handle(exchange); },
          [this](const Finished& finished) {
            const std::string path = finished.exchange ? finished.exchange->request().path : "";
            metrics_.add_request(Api::route_name(path), finished.status, finished.seconds);
            if (!finished.complete) metrics_.add_cut();
            log_.write(finished);
          }),
      queue_(options.work, [this](size_t jobs) { metrics_.add_go(jobs); }),
      api_{.options = options.api,
           .models = models_,
           .queue = queue_,
           .metrics = metrics_,
           .connections = [this] { return http_.connections(); },
           .stopping = [this] { return stopping_; }} {
  // Whoever knows the token may ask. A server for other machines has names that it cannot know.
  if (!api_.options.token.empty() || !http_.for_this_machine()) api_.options.any_host = true;
  // Before anybody is told that it listens: a signal that comes at once must not end it halfway.
  http_.on_signals({SIGTERM, SIGINT, SIGHUP}, [this](int signal) { on_signal(signal); });
}

Server::~Server() {
  if (reloader_.joinable()) reloader_.join();
}

bool Server::run() { return http_.run(); }

void Server::on_signal(int signal) {
  if (signal == SIGHUP) {
    log_.reopen();
    return reload();
  }
  stopping_ = true;
  http_.stop();
  http_.forget_signal(SIGTERM);
  http_.forget_signal(SIGINT);
  note_("stopping: finishes what runs; once more ends at once");
}

/// On a thread of its own, since loading takes time. A signal that comes meanwhile loads once more after it: the files
/// may have changed since they were read.
void Server::reload() {
  if (reloads_.fetch_add(1) > 0) return;
  if (reloader_.joinable()) reloader_.join();
  try {
    reloader_ = std::thread([this] {
      for (int wanted = 1; wanted > 0; wanted = reloads_.fetch_sub(wanted) - wanted) reload_once();
    });
  } catch (...) {
    reloads_ = 0;
    metrics_.add_reload(false);
    throw;
  }
}

void Server::reload_once() noexcept {
  bool good = false;
  try {
    const std::vector<std::string> messages = models_.reload();
    good = messages.empty();
    for (const std::string& message : messages) note_(message);
    if (good) note_("all models were loaded again");
  } catch (const std::bad_alloc&) {
    // The models stay as they were; the metrics tell that.
  }
  metrics_.add_reload(good);
}

}  // namespace heed::serve
