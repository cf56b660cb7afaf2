#include "heed/serve/http_server.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <atomic>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <thread>
#include <vector>

#include "heed/base/error.h"
#include "heed/serve/connection.h"

namespace heed::serve {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
using std::chrono::steady_clock;

namespace {

constexpr auto kSweep = std::chrono::milliseconds(100);      // between two looks for connections that are late
constexpr auto kMemoryPause = std::chrono::milliseconds(5);  // in which others may free some

/// Each connection is an open file. The usual limit of 1024 is for programs that use select().
void allow_many_files() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

tcp::endpoint endpoint_of(const HttpOptions& options) {
  const std::string host = options.host == "localhost" ? "127.0.0.1" : options.host;
  error_code error;
  const auto address = asio::ip::make_address(host, error);
  expect(!error, "--host '{}' is not an address of this machine; 127.0.0.1 is for this machine alone, 0.0.0.0 for all",
         options.host);
  return {address, static_cast<unsigned short>(options.port)};
}

}  // namespace

struct HttpServer::Inside {
  explicit Inside(std::unique_ptr<Shared> all) : shared(std::move(all)) {}

  std::unique_ptr<Shared> shared;
  tcp::acceptor acceptor{shared->io};
  asio::steady_timer sweeper{shared->io}, pause{shared->io}, grace{shared->io}, ticker{shared->io}, stopper{shared->io};
  asio::signal_set signals{shared->io};
  std::function<void(int)> on_signal = {};
  std::chrono::milliseconds tick_period{0};
  std::function<void()> on_tick = {};
  bool complete = true;
  std::atomic<bool> stop_wanted{false};

  // What always waits for something. One whose handler failed, or that could not be started, waits for nothing.
  bool accepting = false, sweeping = false, watching = false, ticking = false, stopped = false;

  /// Starts all of these that do not wait.
  void keep_going() {
    if (!sweeping) sweep();
    if (!watching && on_signal) wait_for_signal();
    if (!ticking && on_tick) tick();
    if (stop_wanted && !stopped) stop();
    if (!accepting && !shared->stopping) accept();
  }

  void tick() {
    ticker.expires_after(tick_period);
    ticker.async_wait([this](const error_code& cancelled) {
      ticking = false;
      if (cancelled) return;
      on_tick();
      tick();
    });
    ticking = true;
  }

  void listen() {
    const tcp::endpoint where = endpoint_of(shared->options);
    const auto check = [&](const error_code& error) {
      expect(!error, ErrorKind::cannot_write, "cannot listen on {} port {}: {}; --port 0 takes one that is free",
             shared->options.host, shared->options.port, error.message());
    };
    error_code error;
    acceptor.open(where.protocol(), error);
    check(error);
    acceptor.set_option(tcp::acceptor::reuse_address(true), error);
    check(error);
    acceptor.bind(where, error);
    check(error);
    constexpr int kWaiting = 4096;  // connections that the system keeps until they are accepted
    acceptor.listen(kWaiting, error);
    check(error);
  }

  void accept() {
    acceptor.async_accept([this](const error_code& error, tcp::socket socket) {
      accepting = false;
      if (shared->stopping || error == asio::error::operation_aborted) return;
      if (!error) take_or_drop(std::move(socket));
      if (!error || error == asio::error::connection_aborted) return accept();
      // No file is free for one more connection: some may be soon.
      pause.expires_after(kSweep);
      pause.async_wait([this](const error_code& stopped) {
        accepting = false;
        if (!stopped) accept();
      });
      accepting = true;
    });
    accepting = true;
  }

  void take_or_drop(tcp::socket socket) {
    std::shared_ptr<Connection> connection;
    try {
      connection = take(std::move(socket));
      if (connection) connection->start();
    } catch (const std::bad_alloc&) {
      if (connection) connection->close();
    }
  }

  /// Those that the system has accepted and nobody has looked at.
  void take_waiting() {
    error_code error;
    acceptor.non_blocking(true, error);
    while (!error) {
      tcp::socket socket(shared->io);
      acceptor.accept(socket, error);
      if (!error) take_or_drop(std::move(socket));
    }
  }

  std::shared_ptr<Connection> take(tcp::socket socket) {
    if (std::ssize(shared->connections) >= shared->options.max_connections) {
      const Answer answer = Failure(503, "too_many_connections", "The server has too many connections.").answer();
      const std::string text = fmt::format(
          "HTTP/1.1 503 Service Unavailable\r\nX-Request-Id: {}\r\nContent-Type: {}\r\nRetry-After: 1\r\n"
          "Content-Length: {}\r\nConnection: close\r\n\r\n{}",
          shared->new_id().text(), answer.type, answer.body.size(), answer.body);
      error_code ignored;
      socket.non_blocking(true, ignored);
      socket.write_some(asio::buffer(text), ignored);
      return nullptr;
    }
    auto connection = std::make_shared<Connection>(*shared, std::move(socket));
    shared->connections.insert(connection);
    return connection;
  }

  void sweep() {
    sweeper.expires_after(kSweep);
    sweeper.async_wait([this](const error_code& cancelled) {
      sweeping = false;
      if (cancelled) return;
      const auto now = steady_clock::now();
      std::vector<std::shared_ptr<Connection>> over;
      for (const auto& connection : shared->connections)
        if (connection->is_over(now)) over.push_back(connection);
      for (const auto& connection : over) connection->end();
      keep_going();
    });
    sweeping = true;
  }

  void wait_for_signal() {
    signals.async_wait([this](const error_code& cancelled, int signal) {
      watching = false;
      if (cancelled) return;
      on_signal(signal);
      keep_going();
    });
    watching = true;
  }

  /// May be called again where it could not be finished.
  void stop() {
    if (stopped) return;
    if (acceptor.is_open()) {
      shared->stopping = true;
      take_waiting();
      error_code ignored;
      acceptor.close(ignored);
    }
    shared->on_empty = [this] { shared->io.stop(); };
    grace.expires_after(shared->options.grace);
    grace.async_wait([this](const error_code& cancelled) {
      if (cancelled) return;
      complete = false;
      shared->io.stop();
    });
    for (const auto& connection : shared->connections) connection->finish();
    stopped = true;
    if (shared->connections.empty()) shared->io.stop();
  }
};

HttpServer::HttpServer(const HttpOptions& options, Handler handler, Observer observer)
    : inside_(std::make_unique<Inside>(std::make_unique<Shared>(options, std::move(handler), std::move(observer)))) {
  allow_many_files();
  inside_->listen();
}

HttpServer::~HttpServer() = default;

int HttpServer::port() const {
  error_code error;
  const auto where = inside_->acceptor.local_endpoint(error);
  return error ? 0 : where.port();
}

std::string HttpServer::address() const {
  const std::string& host = inside_->shared->options.host;
  return fmt::format("http://{}:{}/", host.find(':') == std::string::npos ? host : "[" + host + "]", port());
}

bool HttpServer::for_this_machine() const { return endpoint_of(inside_->shared->options).address().is_loopback(); }

int64_t HttpServer::connections() const { return std::ssize(inside_->shared->connections); }

void HttpServer::on_signals(std::initializer_list<int> signals, std::function<void(int)> what) {
  for (const int signal : signals) inside_->signals.add(signal);
  inside_->on_signal = std::move(what);
  inside_->wait_for_signal();
}

void HttpServer::forget_signal(int signal) {
  error_code ignored;
  inside_->signals.remove(signal, ignored);
}

void HttpServer::every(std::chrono::milliseconds period, std::function<void()> what) {
  inside_->tick_period = period;
  inside_->on_tick = std::move(what);
}

bool HttpServer::run() {
  for (bool done = false; !done;) try {
      inside_->keep_going();
      inside_->shared->io.run();
      done = true;
    } catch (const std::bad_alloc&) {
      std::this_thread::sleep_for(kMemoryPause);
    }
  // Those that the grace cut off: a connection and the answer that it still writes hold each other.
  auto& connections = inside_->shared->connections;
  while (!connections.empty()) std::shared_ptr<Connection>(*connections.begin())->close();
  return inside_->complete;
}

void HttpServer::stop_after(std::chrono::milliseconds time) noexcept {
  try {
    inside_->stopper.expires_after(time);
    inside_->stopper.async_wait([this](const error_code& cancelled) {
      if (!cancelled) stop();
    });
  } catch (const std::bad_alloc&) {
    stop();  // sooner, rather than never
  }
}

void HttpServer::stop() noexcept {
  inside_->stop_wanted = true;
  try {
    asio::post(inside_->shared->io, [inside = inside_.get()] { inside->keep_going(); });
  } catch (const std::bad_alloc&) {
    // It is seen at the next sweep.
  }
}

}  // namespace heed::serve
