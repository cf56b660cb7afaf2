// HTTP as the routes see it: a request comes in, and an answer goes out, whole or event by event. No sockets here.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heed/base/json.h"

namespace heed::serve {

struct Request {
  std::string method = {};  // "POST"
  std::string path = {};    // "/v1/predict", without the query
  std::string body = {};
  std::string content_type = {}, authorisation = {}, origin = {}, host = {};  // headers; empty: there was none
  std::string id = {};      // X-Request-Id, or one that the server made
  std::string client = {};  // its address
  bool keep_alive = true;   // the client may send more on this connection
  bool chunks = true;       // it understands chunks: HTTP/1.1
};

using Headers = std::vector<std::pair<std::string, std::string>>;

/// "name: value\r\n" of each
std::string lines_of(const Headers& headers);

inline constexpr const char* kJsonType = "application/json";

struct Answer {
  int status = 200;
  std::string body = {};
  std::string type = kJsonType;
  Headers headers = {};  // besides the usual ones
};

/// A request and the way to answer it: answer() once, or begin_events(), event() any number of times and end(); what
/// comes after that is ignored. One that is destroyed without an answer answers 500 within moments. All of them throw
/// std::bad_alloc, and have done nothing, where there is no memory. Threads: any; but one at a time.
class Exchange {
 public:
  explicit Exchange(Request request) : request_(std::move(request)) {}
  virtual ~Exchange() = default;
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  const Request& request() const { return request_; }

  virtual void answer(Answer answer) = 0;

  /// Server-sent events: `data` is one line. A client that reads too slowly misses some, but never the last one, which
  /// end() sends.
  virtual void begin_events() = 0;
  virtual void event(std::string_view data) = 0;
  virtual void end(std::string_view last_events) = 0;

  /// There is no memory even to say so: the server says it within moments, with what it has put aside. A stream that
  /// has begun is cut off.
  virtual void give_up() noexcept = 0;

  /// The client is gone: nobody waits for the answer.
  virtual bool abandoned() const = 0;

  /// For the access log, beside what it always has. Before the answer.
  void tell(std::string name, file::Json value) { told_.emplace_back(std::move(name), std::move(value)); }
  const file::Json::Members& told() const { return told_; }

  /// Destroyed with this.
  void keep(std::shared_ptr<const void> what) { kept_.push_back(std::move(what)); }

 private:
  Request request_;
  std::vector<std::shared_ptr<const void>> kept_;
  file::Json::Members told_;
};

/// "data: ..\n\n"
std::string event_text(std::string_view data);

/// Names of headers, hosts and types may be written in either case. ASCII.
bool equal_in_any_case(std::string_view a, std::string_view b);

/// "Not Found"
std::string_view reason_of(int status);

}  // namespace heed::serve
