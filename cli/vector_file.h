// Vectors as a file of NumPy: .npy, version 1.0, float32, [lines, width].
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <string>

namespace heed::cli {

class VectorFile {
 public:
  /// Throws if it cannot be made.
  explicit VectorFile(std::string path);
  /// The next row; empty: there is none, NaN.
  void add(std::span<const float> vector);
  /// Writes what is missing, and the numbers of rows and columns. Without it the file is not complete.
  void finish();

 private:
  void write(const void* bytes, size_t size);
  void write_header();
  void write_missing();

  struct Closer {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::string path_;
  std::unique_ptr<std::FILE, Closer> file_;
  int64_t rows_ = 0, width_ = 0;
  int64_t missing_ = 0;  // rows before the first vector
};

}  // namespace heed::cli
