// The answer to one HTTP request, put together from what arrives.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace heed::bench {

/// Takes answers with a Content-Length only: that is what both servers send.
class Response {
 public:
  /// Room for more bytes; added() then tells how many came.
  char* room();
  static constexpr size_t kRoom = 16384;

  /// True once the answer is complete. Throws Error if this is no HTTP.
  bool added(size_t count);

  int status() const { return status_; }
  std::string_view body() const { return std::string_view(bytes_).substr(begin_, length_); }
  /// The server closes the connection after this answer.
  bool closes() const { return closes_; }
  /// Nothing of an answer has arrived.
  bool empty() const { return size_ == 0; }

  void clear();

 private:
  void read_head(std::string_view head);

  std::string bytes_;
  size_t size_ = 0;    // bytes that came
  size_t begin_ = 0;   // of the body; 0: the head is not complete
  size_t length_ = 0;  // of the body
  int status_ = 0;
  bool closes_ = false;
};

}  // namespace heed::bench
