#include "heed/serve/request_reader.h"

#include <fmt/format.h>

#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

namespace heed::serve {

namespace http = boost::beast::http;
namespace asio = boost::asio;
using boost::system::error_code;

struct RequestReader::Parser {
  http::request_parser<http::string_body> parser;
  bool header_seen = false;
};

RequestReader::RequestReader(const ReadLimits& limits) : limits_(limits) { start(); }
RequestReader::~RequestReader() = default;

void RequestReader::start() {
  parser_ = std::make_unique<Parser>();
  parser_->parser.eager(true);
  parser_->parser.header_limit(limits_.header);
  parser_->parser.body_limit(limits_.body);
}

bool RequestReader::begun() const { return !waiting_.empty() || parser_->parser.got_some(); }
bool RequestReader::done() const { return !refused() && parser_->parser.is_done(); }
bool RequestReader::refused() const { return failure_.has_value(); }

void RequestReader::put(std::string_view bytes) {
  if (refused()) return;
  waiting_.append(bytes);
  if (!done()) parse();
}

namespace {

Failure failure_for(const error_code& error, const ReadLimits& limits) {
  if (error == http::error::header_limit)
    return {431, "header_too_large", fmt::format("The header of the request has more than {} bytes.", limits.header)};
  if (error == http::error::body_limit)
    return {413, "body_too_large",
            fmt::format("The body of the request has more than {} bytes: --max-body of the server.", limits.body)};
  if (error == http::error::bad_version) return {505, "bad_version", "The server speaks HTTP/1.1 and HTTP/1.0."};
  return {400, "bad_http", fmt::format("This is not a valid HTTP request: {}.", error.message())};
}

std::string text_of(boost::beast::string_view text) { return {text.data(), text.size()}; }

}  // namespace

void RequestReader::parse() {
  // Empty lines before a request are allowed (RFC 9112, 2.2).
  if (!parser_->parser.got_some()) waiting_.erase(0, std::min(waiting_.find_first_not_of("\r\n"), waiting_.size()));
  while (!waiting_.empty() && !parser_->parser.is_done()) {
    error_code error;
    const size_t used = parser_->parser.put(asio::buffer(waiting_), error);
    waiting_.erase(0, used);
    if (parser_->parser.is_header_done() && !parser_->header_seen) {
      parser_->header_seen = true;
      const auto expect = parser_->parser.get()[http::field::expect];
      expects_ = !expect.empty();
      if (expects_ && !boost::beast::iequals(expect, "100-continue"))
        failure_ = Failure(417, "expectation", fmt::format("The server cannot fulfil 'Expect: {}'.", text_of(expect)));
      // Where its body ends could not be known, and what a proxy takes for one request would be two here (RFC
      // 9112, 6.1).
      const auto coding = parser_->parser.get()[http::field::transfer_encoding];
      if (!coding.empty() && !parser_->parser.chunked())
        failure_ =
            Failure(501, "transfer_encoding",
                    fmt::format("The server knows no 'Transfer-Encoding: {}'; chunked is one.", text_of(coding)));
    }
    if (error == http::error::need_more) break;
    if (error && !failure_) failure_ = failure_for(error, limits_);
    if (failure_ || used == 0) break;
  }
}

bool RequestReader::take_expectation() {
  const bool expects = expects_ && !done() && !refused();
  expects_ = false;
  return expects;
}

namespace {

/// "/v1/predict", also of "http://host/v1/predict?query", as proxies may write it (RFC 9112, 3.2.2).
std::string path_of(std::string target) {
  if (const size_t scheme = target.find("://"); scheme != std::string::npos && target.find('/') > scheme) {
    const size_t path = target.find('/', scheme + 3);
    target = path == std::string::npos ? "/" : target.substr(path);
  }
  return target.substr(0, target.find('?'));
}

bool is_good_id(boost::beast::string_view id) {
  constexpr size_t kLongest = 128;
  return !id.empty() && id.size() <= kLongest &&
         id.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-") ==
             boost::beast::string_view::npos;
}

}  // namespace

Request RequestReader::take() {
  auto& message = parser_->parser.get();
  Request request{.method = text_of(message.method_string()),
                  .path = path_of(text_of(message.target())),
                  .body = std::move(message.body()),
                  .content_type = text_of(message[http::field::content_type]),
                  .authorisation = text_of(message[http::field::authorization]),
                  .origin = text_of(message[http::field::origin]),
                  .keep_alive = message.keep_alive(),
                  .chunks = message.version() >= 11};
  if (const auto id = message["X-Request-Id"]; is_good_id(id)) request.id = text_of(id);
  expects_ = false;
  start();
  parse();
  return request;
}

}  // namespace heed::serve
