// Sockets: accepts connections, reads requests, hands them to a handler and writes the answers. One thread does all of
// it; handlers that take long answer from other threads. Boost.Asio is behind this.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>

#include "heed/serve/http.h"
#include "heed/serve/request_reader.h"

namespace heed::serve {

struct HttpOptions {
  std::string host = "127.0.0.1";  // an address, or localhost
  int64_t port = 8080;             // 0: one that is free
  int64_t max_connections = 20000;
  ReadLimits limits = {};
  Headers headers = {};                             // of every answer
  std::chrono::milliseconds read_timeout{10'000};   // from the first byte of a request to its last
  std::chrono::milliseconds idle_timeout{60'000};   // without a request on an open connection
  std::chrono::milliseconds write_timeout{20'000};  // in which a client reads nothing
  std::chrono::milliseconds grace{30'000};          // for what runs when it is to stop
  std::chrono::milliseconds drain{1'000};           // of it: for requests that are on their way on idle connections
};

/// A request that is over, for logs and metrics.
struct Finished {
  const Exchange* exchange;  // null: it could not be read
  std::string id, client;
  int status = 0;
  uint64_t bytes = 0;    // of the body
  double seconds = 0;    // from its last byte to the end of the answer
  bool complete = true;  // the client got all of it
};

/// Threads: stop() from any; the rest from one.
class HttpServer {
 public:
  using Handler = std::function<void(const std::shared_ptr<Exchange>&)>;
  using Observer = std::function<void(const Finished&)>;

  /// Listens at once. Throws ErrorKind::cannot_write if it cannot. Both functions are called on the thread of run(),
  /// and must be quick.
  HttpServer(const HttpOptions& options, Handler handler, Observer observer);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  int port() const;
  std::string address() const;    // "http://127.0.0.1:8080/"
  bool for_this_machine() const;  // nobody else can reach it
  int64_t connections() const;

  /// While it runs, these signals call `what` on its thread, instead of what they would do.
  void on_signals(std::initializer_list<int> signals, std::function<void(int)> what);
  /// This signal does again what it would do.
  void forget_signal(int signal);

  /// While it runs, `what` is called on its thread again and again. Once.
  void every(std::chrono::milliseconds period, std::function<void()> what);
  /// As stop(), but after this time: until then everything goes on. For the thread of run().
  void stop_after(std::chrono::milliseconds time) noexcept;

  /// Serves until stop() was called and what runs is answered, or the grace is over. Returns whether all was answered.
  /// Goes on where memory was missing: a connection or an answer may be lost for it, but nothing else.
  bool run();
  /// No new connections. What runs is answered, and so is what arrives soon on connections that are open, as their
  /// last.
  void stop() noexcept;

 private:
  struct Inside;
  std::unique_ptr<Inside> inside_;
};

}  // namespace heed::serve
