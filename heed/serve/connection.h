// One connection of the server: waits for a request, reads it, waits for its answer, writes that, and again. Where
// memory is missing for a step, its request is answered 503 no_memory with what was put aside for that, and the
// connection ends; nothing else does.
#pragma once

#include <array>
#include <atomic>
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

/// The id of a request that the server made.
struct RequestId {
  std::array<char, 40> characters;
  size_t length = 0;
  std::string_view text() const { return {characters.data(), length}; }
};

/// What all connections share, and outlives them. They live on the thread of `io`.
struct Shared {
  Shared(HttpOptions options, HttpServer::Handler handler, HttpServer::Observer observer);

  HttpOptions options;
  HttpServer::Handler handler;
  HttpServer::Observer observer;
  boost::asio::io_context io{1};
  std::set<std::shared_ptr<Connection>> connections = {};
  std::vector<char> scratch = std::vector<char>(64 * 1024);  // bytes just read: idle connections need no buffer
  bool stopping = false;
  std::function<void()> on_empty = {};  // the last connection is gone

  RequestId new_id() noexcept;
  const std::string& date();  // "Wed, 18 Nov 2026 00:00:00 GMT"

  /// An answer for lack of memory, made while there was some: what stands before its id, and after it.
  std::string no_memory_start, no_memory_end;
  static constexpr int kNoMemory = 503;

 private:
  uint64_t ids_ = 0;
  uint64_t id_start_ = 0;
  std::string date_;
  std::chrono::system_clock::time_point date_until_{};
};

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(Shared& shared, boost::asio::ip::tcp::socket socket);
  ~Connection();

  void start();
  /// It waits for too long, or for an answer that nobody will give.
  bool is_over(std::chrono::steady_clock::time_point now) const { return now >= deadline_ || lost(); }
  /// Ends what is over.
  void end() noexcept;
  /// The server stops: no more requests after this one. Without one, some time is left for one that is on its way.
  void finish() noexcept;
  /// At once, whatever is under way.
  void close() noexcept;

 private:
  class HttpExchange;
  enum class State { idle, reading, handling, closing, closed };

  /// Runs a step, and answers for it where there is no memory.
  template <class Step>
  void guarded(const Step& step) noexcept;
  void no_memory() noexcept;
  bool lost() const { return state_ == State::handling && lost_ == serial_ && !answer_ends_; }
  void end_lost();

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
  void report() noexcept;
  void expires_after(std::chrono::milliseconds time) { deadline_ = std::chrono::steady_clock::now() + time; }

  Shared& shared_;
  boost::asio::ip::tcp::socket socket_;
  std::string client_;
  RequestReader reader_;
  State state_ = State::idle;
  std::chrono::steady_clock::time_point deadline_;

  // The request that will have no answer, and whether that is for lack of memory. From any thread.
  std::atomic<uint64_t> lost_{0};
  std::atomic<bool> lost_for_memory_{false};

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
  bool answer_sent_ = false;  // some of it: no other can be sent instead
  bool answer_ends_ = false;  // out_ holds the rest of the answer
};

}  // namespace heed::serve
