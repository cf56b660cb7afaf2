#include "heed/serve/connection.h"

#include <fmt/format.h>

#include <atomic>
#include <boost/asio/buffer.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>

namespace heed::serve {

namespace asio = boost::asio;
using boost::system::error_code;
using std::chrono::steady_clock;

// ------------------------------------------------------------------------------------------------------------ exchange

/// Comes back to the thread of the connection with whatever it is told.
class Connection::HttpExchange : public Exchange, public std::enable_shared_from_this<HttpExchange> {
 public:
  HttpExchange(Request request, std::shared_ptr<Connection> connection)
      : Exchange(std::move(request)), connection_(std::move(connection)), serial_(connection_->serial_) {}
  /// Leaves a note where nothing is to come any more: to send anything may need memory.
  ~HttpExchange() override {
    if (!ended_) connection_->lost_ = serial_;
  }

  void answer(Answer answer) override {
    if (ended_) return;
    on_thread([answer = std::move(answer)](Connection& c) {
      c.begin_answer(answer, false);
      c.end_answer();
    });
    ended_ = true;
  }
  void begin_events() override {
    if (ended_) return;
    on_thread([](Connection& c) {
      c.begin_answer({.type = "text/event-stream", .headers = {{"Cache-Control", "no-store"}}}, true);
      c.write();
    });
  }
  void event(std::string_view data) override {
    if (ended_) return;
    on_thread([text = event_text(data)](Connection& c) { c.add_event(text, false); });
  }
  void end(std::string_view last_events) override {
    if (ended_) return;
    on_thread([text = std::string(last_events)](Connection& c) {
      c.add_event(text, true);
      c.end_answer();
    });
    ended_ = true;
  }
  void give_up() noexcept override {
    if (ended_) return;
    connection_->lost_for_memory_ = true;
    connection_->lost_ = serial_;
    ended_ = true;
  }
  bool abandoned() const override { return abandoned_.load(std::memory_order_relaxed); }
  void abandon() { abandoned_.store(true, std::memory_order_relaxed); }

 private:
  /// Whoever answers may let go of this at once: it lives on until the thread has seen what is to be done, for the log,
  /// and so that it is not taken for lost.
  template <class What>
  void on_thread(What what) {
    asio::dispatch(connection_->shared_.io, [self = shared_from_this(), what = std::move(what)] {
      Connection& connection = *self->connection_;
      if (connection.state_ == State::handling && connection.serial_ == self->serial_)
        connection.guarded([&] { what(connection); });
    });
  }

  std::shared_ptr<Connection> connection_;
  uint64_t serial_;  // of the request, so that one that is over cannot write into the answer of the next
  bool ended_ = false;
  std::atomic<bool> abandoned_{false};
};

// ----------------------------------------------------------------------------------------------------- without memory

template <class Step>
void Connection::guarded(const Step& step) noexcept {
  try {
    step();
  } catch (const std::bad_alloc&) {
    no_memory();
  }
}

void Connection::no_memory() noexcept {
  if (state_ == State::closing || state_ == State::closed || answer_sent_) return close();
  if (const auto exchange = exchange_.lock()) exchange->abandon();
  const RequestId fresh = shared_.new_id();
  const std::string_view id = state_ == State::handling && !id_.empty() ? std::string_view(id_) : fresh.text();
  const std::array<asio::const_buffer, 3> text = {
      asio::buffer(shared_.no_memory_start), asio::buffer(id.data(), id.size()), asio::buffer(shared_.no_memory_end)};
  state_ = State::handling;
  error_code error;
  socket_.write_some(text, error);  // it is short: the system takes all of it
  if (error) return close();
  status_ = Shared::kNoMemory;
  report();
  out_.clear();
  written_ = 0;
  try {
    linger();
  } catch (const std::bad_alloc&) {
    close();
  }
}

/// A handler that forgot to answer, or could not.
void Connection::end_lost() {
  if (lost_for_memory_) return no_memory();
  if (status_ != 0) return close();  // in the middle of a stream
  begin_answer(Failure(500, "bug", "The server lost this request. Please report it.").answer(), false);
  end_answer();
}

// ------------------------------------------------------------------------------------------------------------- reading

Connection::Connection(Shared& shared, asio::ip::tcp::socket socket)
    : shared_(shared), socket_(std::move(socket)), reader_(shared.options.limits) {}
Connection::~Connection() = default;

void Connection::start() {
  error_code error;
  const auto peer = socket_.remote_endpoint(error);
  if (error) return close();
  client_ = peer.address().to_string();
  socket_.set_option(asio::ip::tcp::no_delay(true), error);
  socket_.non_blocking(true, error);
  if (error) return close();
  expires_after(shared_.options.idle_timeout);
  wait_for_bytes();
}

void Connection::wait_for_bytes() {
  socket_.async_wait(asio::ip::tcp::socket::wait_read, [self = shared_from_this()](const error_code& error) {
    if (error || (self->state_ != State::idle && self->state_ != State::reading)) return;
    self->guarded([&] { self->read(); });
  });
}

void Connection::read() {
  error_code error;
  const size_t count = socket_.read_some(asio::buffer(shared_.scratch), error);
  if (error == asio::error::would_block || error == asio::error::try_again || error == asio::error::interrupted)
    return wait_for_bytes();
  if (error) return close();  // also where the client has closed it in the middle of a request
  reader_.put({shared_.scratch.data(), count});
  if (state_ == State::idle && reader_.begun()) {  // empty lines before a request are not yet one, and win no time
    state_ = State::reading;
    expires_after(shared_.options.read_timeout);
  }
  handle();
}

/// Goes on with what has been read.
void Connection::handle() {
  if (reader_.refused()) return refuse(reader_.why());
  if (reader_.take_expectation()) {
    out_ += "HTTP/1.1 100 Continue\r\n\r\n";
    write();
    if (state_ == State::closed) return;
  }
  if (!reader_.done()) return wait_for_bytes();
  state_ = State::handling;
  ++serial_;
  id_.clear();
  lost_for_memory_ = false;
  answer_sent_ = false;
  asked_at_ = steady_clock::now();
  Request request = reader_.take();
  request.client = client_;
  if (request.id.empty()) request.id = shared_.new_id().text();
  id_ = request.id;
  keep_alive_ = request.keep_alive;
  chunks_ = request.chunks;
  head_only_ = request.method == "HEAD";
  const auto exchange = std::make_shared<HttpExchange>(std::move(request), shared_from_this());
  exchange_ = exchange;
  shared_.handler(exchange);
}

/// What cannot be read, or comes too slowly, is answered without a handler, and is the last of its connection.
void Connection::refuse(const Failure& failure) {
  error_code ignored;
  socket_.cancel(ignored);
  state_ = State::handling;
  ++serial_;
  exchange_.reset();
  answer_sent_ = false;
  id_ = shared_.new_id().text();
  asked_at_ = steady_clock::now();
  keep_alive_ = head_only_ = false;
  chunks_ = true;
  begin_answer(failure.answer(), false);
  end_answer();
}

// ------------------------------------------------------------------------------------------------------------- writing

void Connection::begin_answer(const Answer& answer, bool events) {
  status_ = answer.status;
  answered_ = exchange_.lock();
  body_bytes_ = 0;
  if (shared_.stopping) keep_alive_ = false;
  if (events && !chunks_) keep_alive_ = false;  // the end of the connection is the end of the answer
  chunks_ = chunks_ && events;
  fmt::format_to(std::back_inserter(out_), "HTTP/1.1 {} {}\r\nDate: {}\r\nServer: heed\r\nX-Request-Id: {}\r\n",
                 answer.status, reason_of(answer.status), shared_.date(), id_);
  if (answer.status != 204) fmt::format_to(std::back_inserter(out_), "Content-Type: {}\r\n", answer.type);
  out_ += "X-Content-Type-Options: nosniff\r\n";
  out_ += lines_of(answer.headers) + lines_of(shared_.options.headers);
  if (chunks_)
    out_ += "Transfer-Encoding: chunked\r\n";
  else if (!events && answer.status != 204)
    fmt::format_to(std::back_inserter(out_), "Content-Length: {}\r\n", answer.body.size());
  out_ += keep_alive_ ? "Connection: keep-alive\r\n\r\n" : "Connection: close\r\n\r\n";
  if (events || head_only_) return;
  body_bytes_ = answer.body.size();
  out_ += answer.body;
}

void Connection::add_event(std::string_view data, bool last) {
  constexpr size_t kMostWaiting = 256 * 1024;  // bytes: beyond that the client is too slow for all events
  if (!last && out_.size() - written_ > kMostWaiting) return;
  body_bytes_ += data.size();
  if (!head_only_ && !data.empty()) {
    if (chunks_) fmt::format_to(std::back_inserter(out_), "{:x}\r\n", data.size());
    out_ += data;
    if (chunks_) out_ += "\r\n";
  }
  if (last && chunks_ && !head_only_) out_ += "0\r\n\r\n";
  if (!last) write();
}

void Connection::end_answer() {
  answer_ends_ = true;
  write();
}

void Connection::write() {
  if (writing_ || state_ == State::closed) return;
  while (written_ < out_.size()) {
    error_code error;
    const size_t count = socket_.write_some(asio::buffer(out_.data() + written_, out_.size() - written_), error);
    written_ += count;
    answer_sent_ = answer_sent_ || (state_ == State::handling && count > 0);
    if (error == asio::error::would_block || error == asio::error::try_again) {
      writing_ = true;
      expires_after(shared_.options.write_timeout);
      socket_.async_wait(asio::ip::tcp::socket::wait_write, [self = shared_from_this()](const error_code& failed) {
        self->writing_ = false;
        if (failed || self->state_ == State::closed) return;
        self->guarded([&] { self->write(); });
      });
      return;
    }
    if (error && error != asio::error::interrupted) return close();
  }
  out_.clear();
  written_ = 0;
  if (answer_ends_) wrote_all();
}

void Connection::wrote_all() {
  answer_ends_ = false;
  report();
  constexpr size_t kKept = 64 * 1024;  // memory that an idle connection may keep
  if (out_.capacity() > kKept) std::string().swap(out_);
  if (!keep_alive_ || shared_.stopping) return linger();
  state_ = State::idle;
  expires_after(shared_.options.idle_timeout);
  if (!reader_.begun() && !reader_.refused()) return wait_for_bytes();
  // More requests came with this one. Not at once: a thousand of them must not become a thousand nested calls.
  state_ = State::reading;
  expires_after(shared_.options.read_timeout);
  asio::post(shared_.io, [self = shared_from_this()] {
    if (self->state_ == State::reading) self->guarded([&] { self->handle(); });
  });
}

/// Reads on for a moment before it closes: closing with unread bytes would take the answer away from the client.
void Connection::linger() {
  if (state_ != State::closing) {
    state_ = State::closing;
    expires_after(std::chrono::seconds(1));
    error_code error;
    socket_.shutdown(asio::ip::tcp::socket::shutdown_send, error);
    if (error) return close();
  }
  socket_.async_wait(asio::ip::tcp::socket::wait_read, [self = shared_from_this()](const error_code& failed) {
    if (failed || self->state_ != State::closing) return;
    error_code error;
    self->socket_.read_some(asio::buffer(self->shared_.scratch), error);
    if (error && error != asio::error::would_block) return self->close();
    self->guarded([&] { self->linger(); });
  });
}

/// An answer is not lost because it cannot be written down.
void Connection::report() noexcept {
  const double seconds = std::chrono::duration<double>(steady_clock::now() - asked_at_).count();
  try {
    shared_.observer({.exchange = answered_.get(),
                      .id = id_,
                      .client = client_,
                      .status = status_,
                      .bytes = body_bytes_,
                      .seconds = seconds,
                      .complete = state_ != State::closed});
  } catch (const std::bad_alloc&) {
  }
  answered_.reset();
  status_ = 0;
}

// -------------------------------------------------------------------------------------------------------------- ending

void Connection::end() noexcept {
  if (lost()) return guarded([&] { end_lost(); });
  switch (state_) {
    case State::reading:
      return guarded([&] { refuse({408, "request_timeout", "The request did not arrive in time."}); });
    case State::handling:
      if (writing_) close();  // otherwise it waits for the handler, which has limits of its own
      return;
    case State::idle: {
      error_code error;
      if (socket_.available(error) == 0 || error) return close();
      state_ = State::reading;  // something has arrived that nobody has looked at: it is answered too
      return expires_after(shared_.options.read_timeout);
    }
    case State::closing:
      return close();
    case State::closed:
      return;
  }
}

void Connection::finish() noexcept {
  keep_alive_ = false;
  if (state_ == State::idle) expires_after(std::min(shared_.options.drain, shared_.options.grace));
}

void Connection::close() noexcept {
  if (state_ == State::closed) return;
  const bool cut = state_ == State::handling;
  state_ = State::closed;
  error_code ignored;
  socket_.close(ignored);
  if (const auto exchange = exchange_.lock()) exchange->abandon();
  if (cut && status_ != 0) report();
  shared_.connections.erase(shared_from_this());
  if (shared_.connections.empty() && shared_.on_empty) shared_.on_empty();
}

}  // namespace heed::serve
