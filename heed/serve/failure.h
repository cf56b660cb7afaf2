// Why a request is not answered as asked: a status for programs, and words for people.
#pragma once

#include <exception>
#include <string>
#include <utility>

#include "heed/serve/http.h"

namespace heed::serve {

/// Thrown while a request is read; docs/serve.md lists the codes.
class Failure : public std::exception {
 public:
  /// `headers`: of the answer, besides the usual ones.
  Failure(int status, std::string code, std::string message, Headers headers = {})
      : status_(status), code_(std::move(code)), message_(std::move(message)), headers_(std::move(headers)) {}

  int status() const { return status_; }
  const std::string& code() const { return code_; }
  const std::string& message() const { return message_; }
  const char* what() const noexcept override { return message_.c_str(); }

  /// {"error": {"code": "..", "message": "..", "type": ".."}}, with Retry-After where trying again makes sense.
  Answer answer() const;
  /// The same for a stream that has begun.
  std::string event() const;

 private:
  int status_;
  std::string code_, message_;
  Headers headers_;
};

/// What any exception means for the client who asked. Mistakes in what was sent are 400; the rest is the server's.
Failure failure_of(const std::exception& exception);

/// Answers with that, whatever happens: Exchange::give_up() where there is no memory for it.
void answer_failure(Exchange& exchange, const std::exception& exception) noexcept;

/// 503: what clients are told where memory is missing.
Failure no_memory_failure();

}  // namespace heed::serve
