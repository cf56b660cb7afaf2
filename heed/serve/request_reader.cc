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
  Request request = {};  // what the header says. Fields that come after chunks are not part of it: Beast would add them
};

RequestReader::RequestReader(const ReadLimits& limits) : limits_(limits) { start(); }
RequestReader::~RequestReader() = default;

void RequestReader::start() {
  parser_ = std::make_unique<Parser>();
  parser_->parser.eager(false);  // the header is looked at before the body is read
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

/// What the header says about where its body ends must leave no doubt, or what a proxy takes for one request would be
/// two here (RFC 9112, 6.1 and 6.3). Beast takes the last coding for chunked whatever stands after it.
template <class Message>
std::optional<Failure> failure_of_coding(const Message& message) {
  const auto codings = message.count(http::field::transfer_encoding);
  if (codings == 0) return {};
  const auto coding = message[http::field::transfer_encoding];
  if (codings > 1 || !boost::beast::iequals(coding, "chunked"))
    return Failure(501, "transfer_encoding",
                   fmt::format("The server knows no 'Transfer-Encoding: {}{}'; chunked, once, is one.",
                               std::string_view(coding.data(), coding.size()), codings > 1 ? ", ..." : ""));
  if (message.version() < 11)
    return Failure(400, "bad_http", "HTTP/1.0 has no Transfer-Encoding: where the body ends cannot be known.");
  return {};
}

/// A request names one host, or what a proxy takes it for and what it is here could differ (RFC 9112, 3.2).
template <class Message>
std::optional<Failure> failure_of_host(const Message& message) {
  const auto hosts = message.count(http::field::host);
  if (hosts > 1)
    return Failure(400, "bad_http", fmt::format("The request has {} Host headers; one is allowed.", hosts));
  if (hosts == 0 && message.version() >= 11)
    return Failure(400, "bad_http", "The request has no Host header, which HTTP/1.1 asks for.");
  const auto host = message[http::field::host];
  if (host.find_first_of(" \t,/@\\\"<>?#") != boost::beast::string_view::npos)
    return Failure(400, "bad_http", "The Host header is not a name or address, with or without a port.");
  return {};
}

std::string text_of(boost::beast::string_view text) { return {text.data(), text.size()}; }

/// "/v1/predict", also of "http://host/v1/predict?query", as proxies may write it: then the host that it names counts,
/// and not that of the header (RFC 9112, 3.2.2).
struct Target {
  std::string host = {}, path = {};
};
Target target_of(std::string text) {
  Target target;
  if (const size_t scheme = text.find("://"); scheme != std::string::npos && text.find('/') > scheme) {
    const size_t host = scheme + 3, path = text.find_first_of("/?", host);
    target.host = text.substr(host, path - host);
    text = path == std::string::npos || text[path] == '?' ? "/" : text.substr(path);
  }
  target.path = text.substr(0, text.find('?'));
  return target;
}

/// A body in chunks ends with "0\r\n\r\n". Where that is all of it and comes byte by byte, Beast asserts that it is not
/// given less of it.
bool may_be_part_of_last_chunk(std::string_view bytes) {
  constexpr size_t kWhole = 5;
  return bytes.front() == '0' && bytes.size() < kWhole;
}

bool is_good_id(boost::beast::string_view id) {
  constexpr size_t kLongest = 128;
  return !id.empty() && id.size() <= kLongest &&
         id.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-") ==
             boost::beast::string_view::npos;
}

}  // namespace

void RequestReader::parse() {
  // Empty lines before a request are allowed (RFC 9112, 2.2).
  if (!parser_->parser.got_some()) waiting_.erase(0, std::min(waiting_.find_first_not_of("\r\n"), waiting_.size()));
  while (!waiting_.empty() && !parser_->parser.is_done()) {
    if (parser_->header_seen && parser_->parser.chunked() && may_be_part_of_last_chunk(waiting_)) break;
    error_code error;
    const size_t used = parser_->parser.put(asio::buffer(waiting_), error);
    waiting_.erase(0, used);
    if (parser_->parser.is_header_done() && !parser_->header_seen) see_header();
    if (error == http::error::need_more) break;
    if (error && !failure_) failure_ = failure_for(error, limits_);
    if (failure_ || used == 0) break;
  }
  // What is left of a request is a piece of a header, or of what stands around chunks, which the parser wants whole.
  if (!failure_ && !parser_->parser.is_done() && waiting_.size() > limits_.header)
    failure_ = failure_for(http::error::header_limit, limits_);
}

void RequestReader::see_header() {
  parser_->header_seen = true;
  parser_->parser.eager(true);
  const auto& message = parser_->parser.get();
  Target target = target_of(text_of(message.target()));
  parser_->request = {.method = text_of(message.method_string()),
                      .path = std::move(target.path),
                      .content_type = text_of(message[http::field::content_type]),
                      .authorisation = text_of(message[http::field::authorization]),
                      .origin = text_of(message[http::field::origin]),
                      .host = target.host.empty() ? text_of(message[http::field::host]) : std::move(target.host),
                      .keep_alive = message.keep_alive(),
                      .chunks = message.version() >= 11};
  if (const auto id = message["X-Request-Id"]; is_good_id(id)) parser_->request.id = text_of(id);
  const auto expect = message[http::field::expect];
  expects_ = !expect.empty();
  if (expects_ && !boost::beast::iequals(expect, "100-continue"))
    failure_ = Failure(417, "expectation", fmt::format("The server cannot fulfil 'Expect: {}'.", text_of(expect)));
  if (std::optional<Failure> wrong = failure_of_host(message)) failure_ = std::move(wrong);
  if (std::optional<Failure> wrong = failure_of_coding(message)) failure_ = std::move(wrong);
}

bool RequestReader::take_expectation() {
  const bool expects = expects_ && !done() && !refused();
  expects_ = false;
  return expects;
}

Request RequestReader::take() {
  Request request = std::move(parser_->request);
  request.body = std::move(parser_->parser.get().body());
  expects_ = false;
  start();
  parse();
  return request;
}

}  // namespace heed::serve
