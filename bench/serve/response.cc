#include "bench/serve/response.h"

#include <strings.h>

#include <charconv>

#include "heed/base/error.h"

namespace heed::bench {
namespace {

bool is(std::string_view name, std::string_view wanted) {
  return name.size() == wanted.size() && strncasecmp(name.data(), wanted.data(), name.size()) == 0;
}

template <class Number>
bool read_number(std::string_view text, Number& value) {
  const char* const end = text.data() + text.size();
  return std::from_chars(text.data(), end, value).ptr == end && !text.empty();
}

}  // namespace

char* Response::room() {
  if (bytes_.size() < size_ + kRoom) bytes_.resize(2 * size_ + kRoom);
  return bytes_.data() + size_;
}

void Response::read_head(std::string_view head) {
  expect(head.size() > 12 && head.starts_with("HTTP/1.") && read_number(head.substr(9, 3), status_),
         "an answer that is not HTTP: '{}'", head.substr(0, 40));
  bool counted = false;
  for (size_t at = head.find("\r\n"); at != std::string_view::npos && at + 2 < head.size();) {
    const size_t next = head.find("\r\n", at + 2);
    const std::string_view line = head.substr(at + 2, next - at - 2);
    const size_t colon = line.find(':');
    const size_t value = line.find_first_not_of(' ', colon + 1);
    if (colon != std::string_view::npos && value != std::string_view::npos) {
      if (is(line.substr(0, colon), "content-length")) counted = read_number(line.substr(value), length_);
      if (is(line.substr(0, colon), "connection")) closes_ = is(line.substr(value), "close");
    }
    at = next;
  }
  expect(counted, "an answer without a Content-Length");
}

bool Response::added(size_t count) {
  const size_t before = size_ < 3 ? 0 : size_ - 3;  // the end of the head may have arrived in two parts
  size_ += count;
  const std::string_view all = std::string_view(bytes_).substr(0, size_);
  if (begin_ == 0) {
    const size_t end = all.find("\r\n\r\n", before);
    if (end == std::string_view::npos) return false;
    begin_ = end + 4;
    read_head(all.substr(0, end + 2));
  }
  expect(size_ <= begin_ + length_, "more bytes than the answer has");
  return size_ == begin_ + length_;
}

void Response::clear() {
  size_ = begin_ = length_ = 0;
  status_ = 0;
  closes_ = false;
}

}  // namespace heed::bench
