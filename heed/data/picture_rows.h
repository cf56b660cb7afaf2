// The rows of a picture file, one after another, as libpng and libjpeg give them.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string_view>

#include "heed/data/picture.h"

namespace heed::data {

class PictureRows {
 public:
  virtual ~PictureRows() = default;

  PictureSize size() const { return size_; }
  /// Before the first row. Asks for the memory that an interlaced or progressive picture needs as a whole.
  virtual void begin() = 0;
  /// rgb [width, 3]: the next of `height` rows.
  virtual void next(uint8_t* rgb) = 0;
  /// After the last row: throws if the file has no proper end.
  virtual void finish() = 0;

 protected:
  /// Throws if the picture is empty or too large.
  void set_size(int64_t height, int64_t width);

 private:
  PictureSize size_;
};

/// By the first bytes of a file, 8 or more if it has them.
enum class PictureKind { none, png, jpeg };
PictureKind kind_of_picture(std::string_view bytes);

/// The file is at its beginning, and outlives the rows. They throw Error without the name of the file.
std::unique_ptr<PictureRows> png_rows(std::FILE* file);
std::unique_ptr<PictureRows> jpeg_rows(std::FILE* file);

}  // namespace heed::data
