#include "heed/serve/failure.h"

#include "heed/base/error.h"
#include "heed/base/memory.h"

namespace heed::serve {

namespace {

file::Json json_of(const Failure& failure) {
  const char* type =
      failure.status() >= 500 ? "server_error" : "invalid_request_error";  // as OpenAI's clients know them
  return file::Json::object(
      {{"error", file::Json::object({{"code", failure.code()}, {"message", failure.message()}, {"type", type}})}});
}

}  // namespace

Answer Failure::answer() const {
  Answer answer{.status = status_, .body = json_of(*this).line() + "\n", .headers = headers_};
  if (status_ == 429 || status_ == 503) answer.headers.emplace_back("Retry-After", "1");
  if (status_ == 401) answer.headers.emplace_back("WWW-Authenticate", "Bearer");
  return answer;
}

std::string Failure::event() const { return json_of(*this).line(); }

Failure failure_of(const std::exception& exception) {
  if (const auto* failure = dynamic_cast<const Failure*>(&exception)) return *failure;
  if (dynamic_cast<const Interrupted*>(&exception))
    return {503, "time_limit", "The answer took too long: the time limit of the server is over."};
  switch (kind_of(exception)) {
    case ErrorKind::usage:
    case ErrorKind::data:
      return {400, "input", exception.what()};
    case ErrorKind::no_memory:
      return no_memory_failure();
    default:
      return {500, "bug", exception.what()};
  }
}

void answer_failure(Exchange& exchange, const std::exception& exception) noexcept {
  try {
    exchange.answer(failure_of(exception).answer());
  } catch (...) {
    exchange.give_up();
  }
}

Failure no_memory_failure() { return {503, "no_memory", "There is not enough memory for this request now."}; }

}  // namespace heed::serve
