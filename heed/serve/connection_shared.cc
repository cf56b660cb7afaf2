#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>
#include <random>

#include "heed/serve/connection.h"

namespace heed::serve {

Shared::Shared(HttpOptions chosen, HttpServer::Handler handle, HttpServer::Observer observe)
    : options(std::move(chosen)), handler(std::move(handle)), observer(std::move(observe)) {
  std::random_device random;
  id_start_ = uint64_t{random()} << 32 | random();
  const Answer answer = no_memory_failure().answer();
  no_memory_start = fmt::format("HTTP/1.1 {} {}\r\nServer: heed\r\nX-Request-Id: ", kNoMemory, reason_of(kNoMemory));
  no_memory_end = fmt::format(
      "\r\nContent-Type: {}\r\nX-Content-Type-Options: nosniff\r\n{}{}Content-Length: {}\r\nConnection: "
      "close\r\n\r\n{}",
      answer.type, lines_of(answer.headers), lines_of(options.headers), answer.body.size(), answer.body);
}

RequestId Shared::new_id() noexcept {
  RequestId id;
  const auto end = fmt::format_to_n(id.characters.begin(), id.characters.size(), "{:016x}-{:x}", id_start_, ++ids_);
  id.length = static_cast<size_t>(end.out - id.characters.begin());
  return id;
}

const std::string& Shared::date() {
  const auto now = std::chrono::system_clock::now();
  if (now >= date_until_) {
    date_ = fmt::format("{:%a, %d %b %Y %H:%M:%S} GMT", fmt::gmtime(std::chrono::system_clock::to_time_t(now)));
    date_until_ = std::chrono::floor<std::chrono::seconds>(now) + std::chrono::seconds(1);
  }
  return date_;
}

}  // namespace heed::serve
