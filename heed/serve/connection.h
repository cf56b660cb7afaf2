// One connection of the server: waits for a request, reads it, waits for its answer, writes that, and again.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "heed/serve/http_server.h"
#include "heed/serve/request_reader.h"

namespace heed::serve {

class Connection;

/// What all connections share, and outlives them. They live on the thread of `io`.
struct Shared {
  HttpOptions options;
  HttpServer::Handler handler;
  HttpServer::Observer observer;
  boost::asio::io_context io{1};
  std::set<std::shared_ptr<Connection>> connections = {};
  std::vector<char> scratch = std::vector<char>(64 * 1024);  // bytes just read: idle connections need no buffer
  bool stopping = false;
  std::function<void()> on_empty = {};  // the last connection is gone

  std::string new_id();
  const std::string& date();  // "Wed, 18 Nov 2026 00:00:00 GMT"

 private:
  uint64_t ids_ = 0;
  std::string id_start_;
  std::string date_;
  std::chrono::system_clock::time_point date_until_{};
};

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(Shared& shared, boost::asio::ip::tcp::socket socket);
  ~Connection();

  void start();
  bool late(std::chrono::steady_clock::time_point now) const { return now >= deadline_; }
  /// Ends what waits for too long.
  void end_if_late();
  /// No more requests after this one; without one, it closes.
  void finish();
  /// At once, whatever is under way.
  void close();

 private:
  class HttpExchange;
  enum class State { idle, reading, handling, closing, closed };

  void wait_for_bytes();
  void read();
  void handle();
  void refuse(const Failure& failure);
  void begin_answer(const Answer& answer, bool events);
  void add_event(std::string_view data, bool last);
  void end_answer();
  void write();
  void wrote_all();
  void linger();
  void report();
  void expires_after(std::chrono::milliseconds time) { deadline_ = std::chrono::steady_clock::now() + time; }

  Shared& shared_;
  boost::asio::ip::tcp::socket socket_;
  std::string client_;
  RequestReader reader_;
  State state_ = State::idle;
  std::chrono::steady_clock::time_point deadline_;

  // Of the request at hand:
  uint64_t serial_ = 0;
  std::weak_ptr<HttpExchange> exchange_;
  std::string id_;
  std::chrono::steady_clock::time_point asked_at_;
  bool keep_alive_ = false, head_only_ = false, chunks_ = false;
  int status_ = 0;
  uint64_t body_bytes_ = 0;
  std::shared_ptr<HttpExchange> answered_;  // kept until its answer is written, for the log

  std::string out_;           // to be written
  size_t written_ = 0;        // of it
  bool writing_ = false;      // a wait for the socket is under way
  bool answer_ends_ = false;  // out_ holds the rest of the answer
};

}  // namespace heed::serve
