// The lines of a text file, plain or gzip (which is known by its first bytes, not by its name), one at a time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace heed::data {

/// A line ends with \n or \r\n, which are not part of it; the last one may end with the file. A byte order mark at the
/// very beginning is not part of the text. A pipe is read as it comes. Throws Error if the file is missing, is a
/// folder, cannot be read, is a damaged or truncated gzip file, or has a line of more than 64 MiB and is thus not text.
class LineReader {
 public:
  explicit LineReader(std::filesystem::path path);

  /// The next line, or false at the end. `line` is used again, so that nothing is allocated for most lines.
  bool next(std::string& line);

  int64_t number() const { return number_; }  // of the line read last, from 1; 0 before the first
  const std::filesystem::path& path() const { return path_; }

 private:
  struct Close {
    void operator()(void* file) const;
  };
  std::string_view available();  // bytes not yet returned, read from the file if there are none; empty at the end

  std::filesystem::path path_;
  std::unique_ptr<void, Close> file_;  // a gzFile
  int stream_ = -1;                 // its descriptor, if it is a pipe or a device: whoever writes it may take his time
  std::unique_ptr<char[]> buffer_;  // not cleared: many files are shorter
  size_t begin_ = 0, end_ = 0;      // of the bytes not yet returned
  int64_t number_ = 0;
  bool finished_ = false;
};

}  // namespace heed::data
