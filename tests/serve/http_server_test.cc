// Sockets on loopback: connections that are used again, slow, silent or rude clients, streams, and an orderly end.
#include "heed/serve/http_server.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace heed::serve {
namespace {

using std::chrono::milliseconds;

class Client {
 public:
  explicit Client(int port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = ::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
    const timeval patience{10, 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  }
  ~Client() { ::close(socket_); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  bool connected() const { return connected_; }
  void send(std::string_view bytes) { ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL); }
  void end_of_input() { ::shutdown(socket_, SHUT_WR); }
  /// All until this text came, or the end of the connection.
  std::string read_until(std::string_view end) {
    while (end.empty() || text_.find(end) == std::string::npos) {
      char bytes[4096];
      const ssize_t count = ::recv(socket_, bytes, sizeof(bytes), 0);
      if (count <= 0) break;
      text_.append(bytes, static_cast<size_t>(count));
    }
    const size_t at = end.empty() ? std::string::npos : text_.find(end);
    const size_t length = at == std::string::npos ? text_.size() : at + end.size();
    std::string found = text_.substr(0, length);
    text_.erase(0, length);
    return found;
  }
  std::string read_all() { return read_until(""); }

 private:
  int socket_;
  bool connected_ = false;
  std::string text_;
};

/// A server on a thread of its own: /echo answers with the body, /later from another thread, /events in pieces, /lost
/// never.
class Running {
 public:
  explicit Running(HttpOptions options = {}) {
    options.port = 0;
    server_ = std::make_unique<HttpServer>(
        options, [this](const std::shared_ptr<Exchange>& exchange) { handle(exchange); },
        [this](const Finished& finished) {
          const std::lock_guard lock(mutex_);
          statuses_.push_back(finished.status);
        });
    port_ = server_->port();
    thread_ = std::thread([this] { complete_ = server_->run(); });
  }
  ~Running() { stop(); }

  int port() const { return port_; }
  void ask_to_stop() { server_->stop(); }
  bool stop() {
    server_->stop();
    if (thread_.joinable()) thread_.join();
    ending_ = true;
    for (std::thread& each : later_) each.join();
    later_.clear();
    return complete_;
  }
  std::vector<int> statuses() {
    const std::lock_guard lock(mutex_);
    return statuses_;
  }
  std::atomic<bool> abandoned{false};

 private:
  void handle(const std::shared_ptr<Exchange>& exchange) {
    const std::string& path = exchange->request().path;
    if (path == "/echo") return exchange->answer({.body = exchange->request().body, .type = "text/plain"});
    if (path == "/lost") return;
    if (path == "/no-memory") return exchange->give_up();
    if (path == "/no-memory-later") {
      later_.emplace_back([exchange] {
        exchange->begin_events();
        exchange->event("first");
        exchange->give_up();
      });
      return;
    }
    if (path == "/twice") {
      exchange->answer({.body = "first.", .type = "text/plain"});
      return exchange->answer({.body = "second.", .type = "text/plain"});
    }
    // NOLINTNEXTLINE(bugprone-string-constructor): large on purpose.
    if (path == "/large") return exchange->answer({.body = std::string(50'000'000, 'x'), .type = "text/plain"});
    later_.emplace_back([this, exchange, path] {
      if (path == "/later") {
        std::this_thread::sleep_for(milliseconds(200));
        return exchange->answer({.body = "later", .type = "text/plain"});
      }
      exchange->begin_events();
      for (int i = 0; i < 3; ++i) exchange->event(std::to_string(i));
      if (path == "/endless")
        for (int i = 0; i < 5000 && !exchange->abandoned() && !ending_; ++i) {
          exchange->event(std::string(1000, 'x'));
          std::this_thread::sleep_for(milliseconds(1));
        }
      abandoned = exchange->abandoned();
      exchange->end(event_text("last"));
    });
  }

  std::unique_ptr<HttpServer> server_;
  int port_ = 0;
  std::thread thread_;
  std::vector<std::thread> later_;
  std::atomic<bool> complete_{false}, ending_{false};
  std::mutex mutex_;
  std::vector<int> statuses_;
};

std::string post(const std::string& path, const std::string& body, const std::string& headers = "") {
  return "POST " + path + " HTTP/1.1\r\nHost: a\r\n" + headers + "Content-Length: " + std::to_string(body.size()) +
         "\r\n\r\n" + body;
}

TEST(HttpServer, AnswersManyRequestsOfOneConnection) {
  Running server;
  Client client(server.port());
  for (int i = 0; i < 100; ++i) {
    client.send(post("/echo", "body " + std::to_string(i) + "."));
    const std::string answer = client.read_until("body " + std::to_string(i) + ".");
    EXPECT_NE(answer.find("HTTP/1.1 200 OK\r\n"), std::string::npos);
    EXPECT_NE(answer.find("X-Request-Id: "), std::string::npos);
  }
}

TEST(HttpServer, AnswersRequestsThatComeTogetherInTheirOrder) {
  Running server;
  Client client(server.port());
  std::string all;
  constexpr int kCount = 2000;
  for (int i = 0; i < kCount; ++i) all += post(i % 500 == 3 ? "/later" : "/echo", "<" + std::to_string(i) + ">");
  std::thread sender([&] { client.send(all); });
  for (int i = 0; i < kCount; ++i) {
    const std::string end = i % 500 == 3 ? "later" : "<" + std::to_string(i) + ">";
    const std::string answer = client.read_until(end);
    ASSERT_TRUE(answer.ends_with(end)) << i;
    ASSERT_LT(answer.size(), 400U) << "another answer came first";
  }
  sender.join();
}

TEST(HttpServer, AnswersAClientThatSendsNoMore) {
  Running server;
  Client client(server.port());
  client.send(post("/later", ""));
  client.end_of_input();
  EXPECT_TRUE(client.read_all().ends_with("later"));
}

TEST(HttpServer, AsksForABodyThatWaits) {
  Running server;
  Client client(server.port());
  client.send("POST /echo HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n");
  EXPECT_EQ(client.read_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  client.send("hello");
  EXPECT_TRUE(client.read_until("hello").starts_with("HTTP/1.1 200"));
}

TEST(HttpServer, TellsASlowClient) {
  Running server({.read_timeout = milliseconds(200)});
  Client client(server.port());
  client.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Le");
  const std::string answer = client.read_all();
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 408 ")) << answer;
  EXPECT_NE(answer.find("\"request_timeout\""), std::string::npos);
  EXPECT_NE(answer.find("Connection: close"), std::string::npos);
}

TEST(HttpServer, ClosesASilentConnection) {
  Running server({.idle_timeout = milliseconds(200)});
  Client silent(server.port()), used(server.port());
  used.send(post("/echo", "x."));
  EXPECT_TRUE(used.read_until("x.").ends_with("x."));
  EXPECT_EQ(silent.read_all(), "");
  EXPECT_EQ(used.read_all(), "");
}

/// Lines without anything are no request, and win no time.
TEST(HttpServer, ClosesAConnectionThatOnlySendsEmptyLines) {
  Running server({.read_timeout = milliseconds(300), .idle_timeout = milliseconds(500)});
  Client client(server.port());
  const auto begin = std::chrono::steady_clock::now();
  std::atomic<bool> closed{false};
  std::thread sender([&] {
    for (int i = 0; i < 100 && !closed; ++i) {
      client.send("\r\n");
      std::this_thread::sleep_for(milliseconds(50));
    }
  });
  EXPECT_EQ(client.read_all(), "");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, milliseconds(2500));
  closed = true;
  sender.join();
}

/// A request that was on its way when the server was told to stop.
TEST(HttpServer, AnswersWhatArrivesOnAnOpenConnectionWhenItStops) {
  Running server;
  Client used(server.port()), silent(server.port());
  for (Client* each : {&used, &silent}) {
    each->send(post("/echo", "x."));
    EXPECT_NE(each->read_until("x.").find("Connection: keep-alive"), std::string::npos);
  }
  server.ask_to_stop();
  std::this_thread::sleep_for(milliseconds(200));
  used.send(post("/echo", "y."));
  const std::string answer = used.read_all();
  EXPECT_TRUE(answer.ends_with("y.")) << answer;
  EXPECT_NE(answer.find("Connection: close"), std::string::npos);
  EXPECT_EQ(silent.read_all(), "");
  EXPECT_TRUE(server.stop());
}

TEST(HttpServer, RefusesWhatIsNotHttpAndTheBodyAfterIt) {
  Running server;
  Client client(server.port());
  client.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 100000000\r\n\r\n" + std::string(100'000, 'x'));
  EXPECT_TRUE(client.read_all().starts_with("HTTP/1.1 413 "));
  Client other(server.port());
  other.send("\x16\x03\x01 nonsense\r\n\r\n");
  EXPECT_TRUE(other.read_all().starts_with("HTTP/1.1 400 "));
}

TEST(HttpServer, SendsEventsInChunksOrUntilTheEnd) {
  Running server;
  Client client(server.port());
  client.send("GET /events HTTP/1.1\r\nHost: a\r\n\r\n");
  const std::string answer = client.read_until("\r\n0\r\n\r\n");
  EXPECT_NE(answer.find("Content-Type: text/event-stream\r\n"), std::string::npos);
  EXPECT_NE(answer.find("9\r\ndata: 0\n\n\r\n9\r\ndata: 1\n\n"), std::string::npos) << answer;
  client.send(post("/echo", "again."));
  EXPECT_TRUE(client.read_until("again.").starts_with("HTTP/1.1 200"));
  Client old(server.port());
  old.send("GET /events HTTP/1.0\r\n\r\n");
  EXPECT_TRUE(old.read_all().ends_with("\r\n\r\ndata: 0\n\ndata: 1\n\ndata: 2\n\ndata: last\n\n"));
}

TEST(HttpServer, NoticesThatTheReaderOfAStreamIsGone) {
  Running server;
  {
    Client client(server.port());
    client.send("GET /endless HTTP/1.1\r\nHost: a\r\n\r\n");
    client.read_until("data: 2");
  }
  for (int i = 0; i < 4000 && !server.abandoned; ++i) std::this_thread::sleep_for(milliseconds(1));
  EXPECT_TRUE(server.abandoned);
}

TEST(HttpServer, ClosesAConnectionWhoseClientDoesNotRead) {
  Running server({.write_timeout = milliseconds(300)});
  Client client(server.port());
  client.send("GET /large HTTP/1.1\r\nHost: a\r\n\r\n");
  // How long it takes to make the answer depends on the machine; from then on the server waits for 300 ms.
  for (int i = 0; i < 600 && server.statuses().empty(); ++i) std::this_thread::sleep_for(milliseconds(100));
  EXPECT_EQ(server.statuses().size(), 1U);
  EXPECT_LT(client.read_all().size(), 50'000'000U);
  EXPECT_TRUE(server.stop());
}

TEST(HttpServer, AnswersForAHandlerThatForgot) {
  Running server;
  Client client(server.port());
  client.send(post("/lost", ""));
  EXPECT_TRUE(client.read_until("}\n").starts_with("HTTP/1.1 500 "));
}

TEST(HttpServer, AnswersForAHandlerWithoutMemory) {
  Running server;
  Client client(server.port());
  client.send(post("/no-memory", "", "X-Request-Id: mine\r\n"));
  const std::string answer = client.read_all();
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 503 Service Unavailable\r\n")) << answer;
  EXPECT_NE(answer.find("\"no_memory\""), std::string::npos);
  EXPECT_NE(answer.find("X-Request-Id: mine\r\n"), std::string::npos);
  EXPECT_NE(answer.find("Retry-After: 1\r\n"), std::string::npos);
  Client stream(server.port());
  stream.send(post("/no-memory-later", ""));
  const std::string begun = stream.read_all();
  EXPECT_NE(begun.find("data: first"), std::string::npos);
  EXPECT_EQ(begun.find("\r\n0\r\n"), std::string::npos) << "it is cut off, not ended";
  for (int i = 0; i < 2000 && server.statuses().size() < 2; ++i) std::this_thread::sleep_for(milliseconds(1));
  EXPECT_EQ(server.statuses(), (std::vector<int>{503, 200}));
}

TEST(HttpServer, TakesOneAnswer) {
  Running server;
  Client client(server.port());
  client.send(post("/twice", "") + post("/echo", "end."));
  const std::string answers = client.read_until("end.");
  EXPECT_NE(answers.find("first."), std::string::npos);
  EXPECT_EQ(answers.find("second."), std::string::npos);
}

TEST(HttpServer, FinishesWhatRunsWhenItStops) {
  Running server;
  Client busy(server.port()), idle(server.port());
  busy.send(post("/later", ""));
  std::this_thread::sleep_for(milliseconds(50));
  server.ask_to_stop();
  const std::string answer = busy.read_all();
  EXPECT_TRUE(answer.ends_with("later"));
  EXPECT_NE(answer.find("Connection: close"), std::string::npos);
  EXPECT_EQ(idle.read_all(), "");
  EXPECT_TRUE(server.stop());
  EXPECT_EQ(server.statuses(), std::vector<int>{200});
}

TEST(HttpServer, DoesNotWaitForEverWhenItStops) {
  Running server({.grace = milliseconds(100)});
  Client client(server.port());
  client.send("GET /endless HTTP/1.1\r\nHost: a\r\n\r\n");
  client.read_until("data: 2");
  server.ask_to_stop();
  std::this_thread::sleep_for(milliseconds(300));
  client.end_of_input();
  EXPECT_FALSE(server.stop());
}

TEST(HttpServer, RefusesMoreConnectionsThanItMayHave) {
  Running server({.max_connections = 2});
  Client first(server.port()), second(server.port());
  for (Client* each : {&first, &second}) {
    each->send(post("/echo", "x."));
    each->read_until("x.");
  }
  Client third(server.port());
  EXPECT_TRUE(third.read_all().starts_with("HTTP/1.1 503 "));
  first.send(post("/echo", "y."));
  EXPECT_TRUE(first.read_until("y.").ends_with("y."));
}

TEST(HttpServer, SaysWhyItCannotListen) {
  Running server;
  HttpOptions same{.port = server.port()};
  try {
    HttpServer other(same, {}, {});
    FAIL();
  } catch (const std::exception& error) {
    EXPECT_NE(std::string(error.what()).find("Address already in use"), std::string::npos);
  }
  HttpOptions nowhere{.host = "example"};
  EXPECT_ANY_THROW(HttpServer(nowhere, {}, {}));
}

}  // namespace
}  // namespace heed::serve
