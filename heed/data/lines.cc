#include "heed/data/lines.h"

#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <cstring>
#include <new>
#include <system_error>
#include <utility>

#include "heed/base/error.h"
#include "heed/base/open_file.h"

namespace heed::data {

namespace {
constexpr size_t kBufferBytes = size_t{1} << 17;
constexpr size_t kLongestLine = size_t{64} << 20;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

/// Windows programs write it. Its letters are two bytes each, so half of the bytes of most texts are 0.
void expect_no_utf16(std::string_view beginning, const std::filesystem::path& path) {
  const bool marked = beginning.starts_with("\xFF\xFE") || beginning.starts_with("\xFE\xFF");
  const bool unmarked = beginning.size() >= 4 && (beginning[0] == 0) != (beginning[1] == 0) &&
                        (beginning[0] == 0) == (beginning[2] == 0) && (beginning[1] == 0) == (beginning[3] == 0);
  expect(!marked && !unmarked, ErrorKind::data,
         "{} is UTF-16, but UTF-8 is needed. To convert it: iconv -f UTF-16 -t UTF-8 {} > {}.utf8", path.string(),
         path.string(), path.string());
}

}  // namespace

void LineReader::Close::operator()(void* file) const { gzclose_r(static_cast<gzFile>(file)); }

LineReader::LineReader(std::filesystem::path path)
    : path_(std::move(path)), buffer_(std::make_unique_for_overwrite<char[]>(kBufferBytes)) {
  const int descriptor = text::open_to_read(path_);
  expect(descriptor >= 0, kind_of_unreadable(errno), "cannot read {}: {}", path_.string(), std::strerror(errno));
  file_.reset(gzdopen(descriptor, "rb"));
  if (!file_) {
    ::close(descriptor);
    throw std::bad_alloc();
  }
  gzbuffer(static_cast<gzFile>(file_.get()), 1 << 16);
  const std::string_view other = text::other_than_a_file(descriptor);
  expect(other != "a folder", ErrorKind::file, "cannot read {}: it is a folder", path_.string());
  if (!other.empty()) stream_ = descriptor;
}

std::string_view LineReader::available() {
  if (begin_ == end_ && !finished_) {
    auto* file = static_cast<gzFile>(file_.get());
    if (stream_ >= 0) text::wait_to_read(stream_);
    errno = 0;
    const int n = gzread(file, buffer_.get(), static_cast<unsigned>(kBufferBytes));
    const int system_reason = errno;
    int status = Z_OK;
    const char* reason = gzerror(file, &status);
    // A file that ends inside a gzip stream gives what there is, and only the status tells.
    if (n < 0 || status == Z_BUF_ERROR || status == Z_DATA_ERROR) {
      const std::string where = fmt::format("cannot read {} after line {}", path_.string(), number_);
      expect(status != Z_ERRNO, ErrorKind::file, "{}: {}", where, std::strerror(system_reason));
      expect(status != Z_BUF_ERROR, ErrorKind::file, "{}: the gzip file is cut off", where);
      throw Error(ErrorKind::file, fmt::format("{}: the gzip file is damaged ({})", where, reason));
    }
    begin_ = 0;
    end_ = static_cast<size_t>(n);
    if (number_ == 0) expect_no_utf16({buffer_.get(), end_}, path_);
    finished_ = n == 0;
  }
  return {buffer_.get() + begin_, end_ - begin_};
}

bool LineReader::next(std::string& line) {
  line.clear();
  std::string_view bytes = available();
  if (bytes.empty()) return false;
  for (; !bytes.empty(); bytes = available()) {
    const size_t newline = bytes.find('\n');
    line.append(bytes.substr(0, newline));
    expect(line.size() <= kLongestLine, ErrorKind::data,
           "cannot read {}: line {} has more than 64 MiB; is this a text file?", path_.string(), number_ + 1);
    begin_ += newline == std::string_view::npos ? bytes.size() : newline + 1;
    if (newline != std::string_view::npos) break;
  }
  if (!line.empty() && line.back() == '\r') line.pop_back();
  if (++number_ == 1 && line.starts_with(kByteOrderMark)) line.erase(0, kByteOrderMark.size());
  return true;
}

}  // namespace heed::data
