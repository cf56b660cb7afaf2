// Bytes -> requests: cut anywhere, several in a row, and everything that is not a request.
#include "heed/serve/request_reader.h"

#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <utility>

namespace heed::serve {
namespace {

const std::string kPost =
    "POST /v1/predict?x=1 HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nX-Request-Id: my.id-1\r\n"
    "Authorization: Bearer abc\r\nContent-Length: 5\r\n\r\nhello";

TEST(RequestReader, ReadsARequestInPiecesOfAnySize) {
  for (size_t piece = 1; piece <= kPost.size(); ++piece) {
    RequestReader reader({});
    for (size_t at = 0; at < kPost.size(); at += piece) {
      EXPECT_FALSE(reader.done());
      reader.put(std::string_view(kPost).substr(at, piece));
    }
    ASSERT_TRUE(reader.done()) << piece;
    const Request request = reader.take();
    EXPECT_EQ(request.method, "POST");
    EXPECT_EQ(request.path, "/v1/predict");
    EXPECT_EQ(request.body, "hello");
    EXPECT_EQ(request.content_type, "application/json");
    EXPECT_EQ(request.authorisation, "Bearer abc");
    EXPECT_EQ(request.id, "my.id-1");
    EXPECT_TRUE(request.keep_alive);
    EXPECT_FALSE(reader.begun());
  }
}

TEST(RequestReader, KeepsWhatComesAfterARequestForTheNext) {
  RequestReader reader({});
  reader.put(kPost + "\r\n\r\nGET /healthz HTTP/1.1\r\nHost: a\r\n\r\n" + kPost.substr(0, 20));
  EXPECT_EQ(reader.take().path, "/v1/predict");
  ASSERT_TRUE(reader.done());
  EXPECT_EQ(reader.take().path, "/healthz");
  EXPECT_FALSE(reader.done());
  EXPECT_TRUE(reader.begun());
  reader.put(kPost.substr(20));
  EXPECT_EQ(reader.take().body, "hello");
}

TEST(RequestReader, ReadsChunks) {
  RequestReader reader({});
  reader.put("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n");
  EXPECT_FALSE(reader.done());
  reader.put("2\r\nde\r\n0\r\n\r\n");
  EXPECT_EQ(reader.take().body, "abcde");
}

/// The parser below asserts more of the last chunk than it may know, if that is the first one too (found by the
/// fuzzer).
TEST(RequestReader, ReadsChunksInPiecesOfAnySize) {
  const std::string head = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
  const std::pair<std::string, std::string> bodies[] = {{"0\r\n\r\n", ""},
                                                        {"000;x=1\r\nTrailer: 0\r\n\r\n", ""},
                                                        {"1\r\n0\r\n0\r\n\r\n", "0"},
                                                        {"3\r\n000\r\n2\r\nde\r\n0\r\n\r\n", "000de"}};
  for (const auto& [chunks, body] : bodies) {
    const std::string all = head + chunks;
    for (size_t piece = 1; piece <= all.size(); ++piece) {
      RequestReader reader({});
      for (size_t at = 0; at < all.size(); at += piece) {
        EXPECT_FALSE(reader.done());
        reader.put(std::string_view(all).substr(at, piece));
      }
      ASSERT_TRUE(reader.done()) << chunks << piece;
      EXPECT_EQ(reader.take().body, body);
      EXPECT_FALSE(reader.begun());
    }
  }
}

TEST(RequestReader, KnowsWhatOldClientsCannot) {
  RequestReader reader({});
  reader.put("GET http://host:80/a/b?q HTTP/1.0\r\n\r\n");
  const Request request = reader.take();
  EXPECT_EQ(request.path, "/a/b");
  EXPECT_FALSE(request.keep_alive);
  EXPECT_FALSE(request.chunks);
}

TEST(RequestReader, TellsOnceThatTheClientWaits) {
  RequestReader reader({});
  reader.put("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
  EXPECT_TRUE(reader.take_expectation());
  EXPECT_FALSE(reader.take_expectation());
  reader.put("ab");
  EXPECT_EQ(reader.take().body, "ab");
  reader.put("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\nab");
  EXPECT_FALSE(reader.take_expectation()) << "the body is there already";
}

TEST(RequestReader, TakesNoIdThatCouldForgeALogLine) {
  for (const std::string& id : {std::string("a b"), std::string("a\"b"), std::string(129, 'a')}) {
    RequestReader reader({});
    reader.put("GET / HTTP/1.1\r\nHost: a\r\nX-Request-Id: " + id + "\r\n\r\n");
    EXPECT_EQ(reader.take().id, "") << id;
  }
}

struct Refused {
  const char* bytes;
  int status;
  const char* code;
};

class RequestReaderRefuses : public testing::TestWithParam<Refused> {};

TEST_P(RequestReaderRefuses, WithAStatus) {
  RequestReader reader({.header = 200, .body = 10});
  reader.put(GetParam().bytes);
  ASSERT_TRUE(reader.refused()) << GetParam().bytes;
  EXPECT_EQ(reader.why().status(), GetParam().status);
  EXPECT_EQ(reader.why().code(), GetParam().code);
  EXPECT_FALSE(reader.done());
  reader.put(kPost);
  EXPECT_TRUE(reader.refused()) << "nothing after it can be read";
}

const std::string kLongHeader = "GET / HTTP/1.1\r\nHost: a\r\nX: " + std::string(300, 'x') + "\r\n\r\n";

INSTANTIATE_TEST_SUITE_P(
    All, RequestReaderRefuses,
    testing::Values(
        Refused{"\x16\x03\x01\x02", 400, "bad_http"}, Refused{"hello\r\n\r\n", 400, "bad_http"},
        Refused{"GET / HTTP/3.0\r\n\r\n", 505, "bad_version"},
        Refused{"GET / HTTP/1.1\r\nbad header\r\n\r\n", 400, "bad_http"},
        Refused{"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 11\r\n\r\n", 413, "body_too_large"},
        Refused{"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n", 400, "bad_http"},
        Refused{"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", 400, "bad_http"},
        Refused{"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400,
                "bad_http"},
        Refused{"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nb\r\nhello world\r\n0\r\n\r\n", 413,
                "body_too_large"},
        Refused{"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 400, "bad_http"},
        Refused{"GET / HTTP/1.1\r\nHost: a\r\nExpect: cake\r\n\r\n", 417, "expectation"},
        Refused{kLongHeader.c_str(), 431, "header_too_large"}, Refused{"GET / HTTP/1.1\r\n\r\n", 400, "bad_http"},
        Refused{"GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", 400, "bad_http"},
        Refused{"GET / HTTP/1.1\r\nHost: a\r\nhost: b\r\n\r\n", 400, "bad_http"},
        Refused{"GET / HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n", 400, "bad_http"},
        Refused{"GET / HTTP/1.1\r\nHost: a, b\r\n\r\n", 400, "bad_http"},
        Refused{"GET / HTTP/1.1\r\nHost: user@a\r\n\r\n", 400, "bad_http"},
        Refused{"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked;q=1\r\n\r\n0\r\n\r\n", 501,
                "transfer_encoding"},
        Refused{"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 501,
                "transfer_encoding"},
        Refused{"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"
                "\r\n0\r\n\r\n",
                400, "bad_http"},
        Refused{"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400, "bad_http"}));

/// A proxy may name the host in the first line, and then that one counts.
TEST(RequestReader, TakesTheHostOfAWholeAddress) {
  for (const auto& [target, host, path] :
       {std::tuple("http://inner:80/a?b", "inner:80", "/a"), std::tuple("http://inner", "inner", "/"),
        std::tuple("/a", "outer", "/a"), std::tuple("http://inner?b", "inner", "/")}) {
    RequestReader reader({});
    reader.put(std::string("GET ") + target + " HTTP/1.1\r\nHost: outer\r\n\r\n");
    const Request request = reader.take();
    EXPECT_EQ(request.host, host) << target;
    EXPECT_EQ(request.path, path) << target;
  }
}

}  // namespace
}  // namespace heed::serve
