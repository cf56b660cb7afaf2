#include "heed/serve/http_server.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <vector>

#include "heed/serve/connection.h"
#include "heed/tensor/error.h"

namespace heed::serve {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
using std::chrono::steady_clock;

namespace {

constexpr auto kSweep = std::chrono::milliseconds(100);  // between two looks for connections that are late

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
  std::unique_ptr<Shared> shared = std::make_unique<Shared>();
  tcp::acceptor acceptor{shared->io};
  asio::steady_timer sweeper{shared->io}, pause{shared->io}, grace{shared->io};
  asio::signal_set signals{shared->io};
  std::function<void(int)> on_signal = {};
  bool complete = true;

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
      if (shared->stopping || error == asio::error::operation_aborted) return;
      if (!error) take(std::move(socket));
      if (!error || error == asio::error::connection_aborted) return accept();
      // No file is free for one more connection: some may be soon.
      pause.expires_after(kSweep);
      pause.async_wait([this](const error_code& stopped) {
        if (!stopped) accept();
      });
    });
  }

  void take(tcp::socket socket) {
    if (std::ssize(shared->connections) >= shared->options.max_connections) {
      const Answer answer = Failure(503, "too_many_connections", "The server has too many connections.").answer();
      const std::string text = fmt::format(
          "HTTP/1.1 503 Service Unavailable\r\nX-Request-Id: {}\r\nContent-Type: {}\r\nRetry-After: 1\r\n"
          "Content-Length: {}\r\nConnection: close\r\n\r\n{}",
          shared->new_id(), answer.type, answer.body.size(), answer.body);
      error_code ignored;
      socket.non_blocking(true, ignored);
      socket.write_some(asio::buffer(text), ignored);
      return;
    }
    const auto connection = std::make_shared<Connection>(*shared, std::move(socket));
    shared->connections.insert(connection);
    connection->start();
  }

  void sweep() {
    sweeper.expires_after(kSweep);
    sweeper.async_wait([this](const error_code& stopped) {
      if (stopped) return;
      const auto now = steady_clock::now();
      std::vector<std::shared_ptr<Connection>> late;
      for (const auto& connection : shared->connections)
        if (connection->late(now)) late.push_back(connection);
      for (const auto& connection : late) connection->end_if_late();
      sweep();
    });
  }

  void wait_for_signal() {
    signals.async_wait([this](const error_code& stopped, int signal) {
      if (stopped) return;
      on_signal(signal);
      wait_for_signal();
    });
  }

  void stop() {
    if (shared->stopping) return;
    shared->stopping = true;
    error_code ignored;
    acceptor.close(ignored);
    shared->on_empty = [this] { shared->io.stop(); };
    grace.expires_after(shared->options.grace);
    grace.async_wait([this](const error_code& stopped) {
      if (stopped) return;
      complete = false;
      shared->io.stop();
    });
    const std::vector<std::shared_ptr<Connection>> all(shared->connections.begin(), shared->connections.end());
    for (const auto& connection : all) connection->finish();
    if (shared->connections.empty()) shared->io.stop();
  }
};

HttpServer::HttpServer(const HttpOptions& options, Handler handler, Observer observer)
    : inside_(std::make_unique<Inside>()) {
  inside_->shared->options = options;
  inside_->shared->handler = std::move(handler);
  inside_->shared->observer = std::move(observer);
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

bool HttpServer::run() {
  inside_->accept();
  inside_->sweep();
  inside_->shared->io.run();
  // Those that the grace cut off: a connection and the answer that it still writes hold each other.
  const std::vector<std::shared_ptr<Connection>> cut(inside_->shared->connections.begin(),
                                                     inside_->shared->connections.end());
  for (const auto& connection : cut) connection->close();
  return inside_->complete;
}

void HttpServer::stop() {
  asio::post(inside_->shared->io, [inside = inside_.get()] { inside->stop(); });
}

}  // namespace heed::serve
