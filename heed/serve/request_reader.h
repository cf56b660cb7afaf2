// Bytes -> requests. Boost.Beast's parser is behind this, so that a test or a fuzzer needs no socket.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "heed/serve/failure.h"
#include "heed/serve/http.h"

namespace heed::serve {

struct ReadLimits {
  uint32_t header = 16 * 1024;  // bytes
  uint64_t body = 1024 * 1024;  // bytes
};

/// The requests of one connection, one after the other.
class RequestReader {
 public:
  explicit RequestReader(const ReadLimits& limits);
  ~RequestReader();
  RequestReader(const RequestReader&) = delete;
  RequestReader& operator=(const RequestReader&) = delete;

  /// More bytes, in pieces of any size.
  void put(std::string_view bytes);

  bool begun() const;    // a part of a request is there
  bool done() const;     // all of it
  bool refused() const;  // it cannot be read; nothing after it can, either

  /// True once, if the client waits for "100 Continue" before it sends the body.
  bool take_expectation();

  /// Of a request that is done. The next one begins with the bytes that are left.
  Request take();
  const Failure& why() const { return *failure_; }  // of one that is refused

 private:
  struct Parser;

  void parse();
  void see_header();
  void start();

  ReadLimits limits_;
  std::unique_ptr<Parser> parser_;
  std::string waiting_;  // bytes that the parser has not used
  std::optional<Failure> failure_;
  bool expects_ = false;
};

}  // namespace heed::serve
