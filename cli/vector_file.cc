#include "cli/vector_file.h"

#include <fmt/format.h>

#include <bit>
#include <cerrno>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "heed/base/error.h"

namespace heed::cli {

static_assert(std::endian::native == std::endian::little);  // as the header says

VectorFile::VectorFile(std::string path) : path_(std::move(path)), file_(std::fopen(path_.c_str(), "wb")) {
  expect(file_ != nullptr, ErrorKind::cannot_write, "cannot write '{}': {}", path_, std::strerror(errno));
  write_header();
}

void VectorFile::add(std::span<const float> vector) {
  ++rows_;
  if (vector.empty() && width_ == 0) {
    ++missing_;
    return;
  }
  if (width_ == 0) {
    width_ = std::ssize(vector);
    write_missing();
  }
  if (!vector.empty()) return write(vector.data(), vector.size_bytes());
  const std::vector<float> none(static_cast<size_t>(width_), std::numeric_limits<float>::quiet_NaN());
  write(none.data(), none.size() * sizeof(float));
}

void VectorFile::finish() {
  expect(std::fseek(file_.get(), 0, SEEK_SET) == 0, ErrorKind::cannot_write, "cannot write '{}': {}", path_,
         std::strerror(errno));
  write_header();
  expect(std::fflush(file_.get()) == 0, ErrorKind::cannot_write, "cannot write '{}': {}", path_, std::strerror(errno));
}

void VectorFile::write(const void* bytes, size_t size) {
  expect(std::fwrite(bytes, 1, size, file_.get()) == size, ErrorKind::cannot_write, "cannot write '{}': {}", path_,
         std::strerror(errno));
}

/// As long for every number of rows, so that it can be written again: 128 bytes.
void VectorFile::write_header() {
  constexpr size_t kDictionary = 118;
  std::string header("\x93NUMPY\x01\x00\x76\x00", 10);
  std::string dictionary =
      fmt::format("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}, {}), }}", rows_, width_);
  dictionary.resize(kDictionary - 1, ' ');
  header += dictionary + '\n';
  write(header.data(), header.size());
}

void VectorFile::write_missing() {
  const std::vector<float> none(static_cast<size_t>(width_), std::numeric_limits<float>::quiet_NaN());
  for (; missing_ > 0; --missing_) write(none.data(), none.size() * sizeof(float));
}

}  // namespace heed::cli
