#include "heed/serve/server.h"

#include <fmt/format.h>

#include <csignal>
#include <utility>

namespace heed::serve {

Server::Server(std::span<const ModelSource> models, const ServerOptions& options,
               std::function<void(const std::string&)> note)
    : drain_(options.drain),
      note_(std::move(note)),
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
  if (options.watch.count() > 0) http_.every(options.watch, [this] { reload(Models::Which::changed); });
}

Server::~Server() {
  if (reloader_.joinable()) reloader_.join();
}

bool Server::run() { return http_.run(); }

void Server::on_signal(int signal) {
  if (signal == SIGHUP) {
    log_.reopen();
    return reload(Models::Which::all);
  }
  stopping_ = true;
  http_.stop_after(drain_);
  http_.forget_signal(SIGTERM);
  http_.forget_signal(SIGINT);
  note_(drain_.count() > 0
            ? fmt::format("draining: not ready any more, still takes requests for {} s; once more ends at once",
                          static_cast<double>(drain_.count()) / 1000)
            : "stopping: finishes what runs; once more ends at once");
}

/// On a thread of its own, since loading takes time. A signal that comes meanwhile loads once more after it: the files
/// may have changed since they were read.
void Server::reload(Models::Which which) {
  if (which == Models::Which::all) reload_all_ = true;
  if (reloads_.fetch_add(1) > 0) return;
  if (reloader_.joinable()) reloader_.join();
  try {
    reloader_ = std::thread([this] {
      for (int wanted = 1; wanted > 0; wanted = reloads_.fetch_sub(wanted) - wanted)
        reload_once(reload_all_.exchange(false) ? Models::Which::all : Models::Which::changed);
    });
  } catch (...) {
    reloads_ = 0;
    metrics_.add_reload(false);
    throw;
  }
}

void Server::reload_once(Models::Which which) noexcept {
  bool good = false;
  try {
    const Models::Reloaded done = models_.reload(which);
    if (done.loaded.empty() && done.messages.empty()) return;  // nothing has changed
    good = done.messages.empty();
    for (const std::string& message : done.messages) note_(message);
    if (which == Models::Which::changed)
      for (const std::string& name : done.loaded) note_(fmt::format("a newer '{}' was loaded", name));
    else if (good)
      note_("all models were loaded again");
  } catch (const std::bad_alloc&) {
    // The models stay as they were; the metrics tell that.
  }
  metrics_.add_reload(good);
}

}  // namespace heed::serve
