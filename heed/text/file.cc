#include "heed/text/file.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>

#include "heed/base/error.h"
#include "heed/base/open_file.h"

namespace heed::text {

namespace {
struct Close {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Close>;
}  // namespace

std::string read_file(const std::filesystem::path& path) {
  const int descriptor = open_to_read(path);
  expect(descriptor >= 0, kind_of_unreadable(errno), "cannot read {}: {}", path.string(), std::strerror(errno));
  const File file(::fdopen(descriptor, "rb"));
  if (!file) {
    ::close(descriptor);
    throw std::bad_alloc();
  }
  const std::string_view other = other_than_a_file(descriptor);
  expect(other.empty(), ErrorKind::file, "cannot read {}: it is {}", path.string(), other);
  std::string contents;
  char buffer[1 << 16];
  while (const size_t n = std::fread(buffer, 1, sizeof buffer, file.get())) contents.append(buffer, n);
  expect(std::ferror(file.get()) == 0, ErrorKind::file, "cannot read {}: {}", path.string(), std::strerror(errno));
  return contents;
}

void write_file(const std::filesystem::path& path, std::string_view contents) {
  std::filesystem::path beside = path;
  beside += ".new";
  File file(std::fopen(beside.c_str(), "wb"));
  expect(file != nullptr, ErrorKind::cannot_write, "cannot write {}: {}", path.string(), std::strerror(errno));
  bool written = std::fwrite(contents.data(), 1, contents.size(), file.get()) == contents.size();
  written = std::fclose(file.release()) == 0 && written;  // a full disk may show only here
  if (!written) {
    const int reason = errno;
    std::remove(beside.c_str());
    throw Error(ErrorKind::cannot_write, fmt::format("cannot write {}: {}", path.string(), std::strerror(reason)));
  }
  std::error_code failed;
  std::filesystem::rename(beside, path, failed);
  expect(!failed, ErrorKind::cannot_write, "cannot write {}: {}", path.string(), failed.message());
}

}  // namespace heed::text
