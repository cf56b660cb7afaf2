// Text as a gzip file has it.
#pragma once

#include <zlib.h>

#include <string>
#include <string_view>

namespace heed {

inline std::string gzip(std::string_view text) {
  z_stream stream{};
  // A window of 2^9 and little memory: fuzzers do this very often. 16: with gzip's header.
  deflateInit2(&stream, 6, Z_DEFLATED, 9 + 16, 1, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, text.size()) + 64, '\0');
  std::string in(text);
  stream.next_in = reinterpret_cast<Bytef*>(in.data());
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

}  // namespace heed
