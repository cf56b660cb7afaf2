#include "bench/serve/load.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <vector>

#include "bench/serve/response.h"
#include "heed/base/error.h"

namespace heed::bench {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_between(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

int connect_to(int port) {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const bool connected =
      socket >= 0 && ::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  expect(connected, "cannot connect to port {}: {}", port, std::strerror(errno));
  const int one = 1;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  return socket;
}

struct Client {
  int socket = -1;
  size_t question = 0;
  size_t sent_bytes = 0;
  bool blocked = false;  // the last send found no room for all of the request
  bool waiting = false;  // for an answer
  Clock::time_point asked = {};
  Response response = {};
};

class Load {
 public:
  Load(const Questions& questions, const LoadOptions& options)
      : questions_(questions),
        options_(options),
        poll_(::epoll_create1(EPOLL_CLOEXEC)),
        clients_(static_cast<size_t>(options.connections)) {
    expect(poll_ >= 0, "epoll: {}", std::strerror(errno));
  }
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;
  ~Load() {
    for (const Client& client : clients_)
      if (client.socket >= 0) ::close(client.socket);
    ::close(poll_);
  }

  LoadReport run() {
    for (Client& client : clients_) open(client);
    const Clock::time_point start = Clock::now();
    const auto after = [&](double seconds) {
      return start + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
    };
    count_from_ = after(options_.warm_up);
    count_to_ = after(options_.warm_up + options_.seconds);
    for (Client& client : clients_) ask(client);
    poll_until(count_to_);
    asking_ = false;
    poll_until(after(options_.warm_up + options_.seconds + options_.patience));
    report_.lost += waiting_;
    summarise();
    return report_;
  }

 private:
  void open(Client& client) {
    client.socket = connect_to(options_.port);
    epoll_event event = {};
    event.events = EPOLLIN;
    event.data.ptr = &client;
    ::epoll_ctl(poll_, EPOLL_CTL_ADD, client.socket, &event);
  }

  void watch(Client& client, uint32_t events) const {
    epoll_event event = {};
    event.events = events;
    event.data.ptr = &client;
    ::epoll_ctl(poll_, EPOLL_CTL_MOD, client.socket, &event);
  }

  void ask(Client& client) {
    client.response.clear();
    client.question = next_++ % questions_.size();
    client.sent_bytes = 0;
    client.waiting = true;
    ++waiting_;
    ++report_.sent;
    client.asked = Clock::now();
    send_rest(client);
  }

  void send_rest(Client& client) {
    const std::string& request = questions_.request(client.question);
    const ssize_t sent = ::send(client.socket, request.data() + client.sent_bytes, request.size() - client.sent_bytes,
                                MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent > 0) client.sent_bytes += static_cast<size_t>(sent);
    const bool more = client.sent_bytes < request.size();
    if (more || client.blocked) watch(client, EPOLLIN | (more ? EPOLLOUT : 0U));
    client.blocked = more;  // an error shows when the answer is read
  }

  void poll_until(Clock::time_point end) {
    std::array<epoll_event, 128> events = {};
    for (Clock::time_point now = Clock::now(); now < end && waiting_ > 0; now = Clock::now()) {
      const int wait = static_cast<int>(std::ceil(1e3 * seconds_between(now, end)));
      const int count = ::epoll_wait(poll_, events.data(), static_cast<int>(events.size()), wait);
      for (int i = 0; i < count; ++i) {
        Client& client = *static_cast<Client*>(events[static_cast<size_t>(i)].data.ptr);
        if (events[static_cast<size_t>(i)].events & EPOLLOUT) send_rest(client);
        if (events[static_cast<size_t>(i)].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) receive(client);
      }
    }
  }

  void receive(Client& client) {
    const ssize_t count = ::recv(client.socket, client.response.room(), Response::kRoom, MSG_DONTWAIT);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (count <= 0) return reopen(client);
    if (!client.response.added(static_cast<size_t>(count))) return;
    count_answer(client);
    if (client.response.closes()) return reopen(client);
    if (asking_) ask(client);
  }

  void count_answer(Client& client) {
    const Clock::time_point now = Clock::now();
    client.waiting = false;
    --waiting_;
    ++report_.answered;
    ++report_.statuses[client.response.status()];
    if (!questions_.right(client.question, client.response.status(), client.response.body())) {
      if (report_.wrong++ == 0)
        report_.first_wrong = fmt::format("{} {}", client.response.status(), client.response.body().substr(0, 500));
    }
    if (now >= count_from_ && now < count_to_)
      latencies_.push_back(static_cast<float>(1e3 * seconds_between(client.asked, now)));
  }

  /// The server closed the connection: what it owed is lost.
  void reopen(Client& client) {
    ::close(client.socket);
    client.socket = -1;
    if (client.waiting) {
      client.waiting = false;
      --waiting_;
      ++report_.lost;
    }
    if (!asking_) return;
    open(client);
    ask(client);
  }

  void summarise() {
    if (latencies_.empty()) return;
    std::sort(latencies_.begin(), latencies_.end());
    const auto share = [&](double part) {
      const auto count = static_cast<double>(latencies_.size());
      return latencies_[std::min(latencies_.size() - 1, static_cast<size_t>(part * count))];
    };
    report_.requests_per_s = static_cast<double>(latencies_.size()) / options_.seconds;
    report_.p50_ms = share(0.5);
    report_.p90_ms = share(0.9);
    report_.p99_ms = share(0.99);
    report_.max_ms = latencies_.back();
  }

  const Questions& questions_;
  LoadOptions options_;
  int poll_;
  std::vector<Client> clients_;
  bool asking_ = true;
  size_t next_ = 0;
  int64_t waiting_ = 0;  // clients that wait for an answer
  Clock::time_point count_from_ = {}, count_to_ = {};
  std::vector<float> latencies_ = {};  // ms
  LoadReport report_ = {};
};

}  // namespace

LoadReport run_load(const Questions& questions, const LoadOptions& options) { return Load(questions, options).run(); }

}  // namespace heed::bench
