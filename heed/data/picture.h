// Pictures as RGB bytes, from PNG and JPEG files. The library's own set-up installs libpng and libjpeg.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace heed::data {

struct PictureSize {
  int64_t height = 0, width = 0;
};

struct Picture {
  int64_t height = 0, width = 0;
  std::vector<uint8_t> rgb = {};  // [height, width, 3]

  Picture() = default;
  Picture(int64_t rows, int64_t columns, uint8_t value = 0)
      : height(rows), width(columns), rgb(static_cast<size_t>(rows * columns * 3), value) {}
  PictureSize size() const { return {height, width}; }
  uint8_t* pixel(int64_t y, int64_t x) { return rgb.data() + (y * width + x) * 3; }
  const uint8_t* pixel(int64_t y, int64_t x) const { return rgb.data() + (y * width + x) * 3; }
};

// A file whose header promises more is refused before memory is given for it.
inline constexpr int64_t kLargestSide = 65'535;
inline constexpr int64_t kMostPixels = int64_t{1} << 28;

/// While it exists, its thread reads no picture with more pixels than this: they are refused by their header. So the
/// memory for one is limited too, to about 6 bytes for each of these pixels.
/// Threads: belongs to the thread that made it.
class PixelLimit {
 public:
  explicit PixelLimit(int64_t most) : before_(current_) { current_ = std::min(most, kMostPixels); }
  ~PixelLimit() { current_ = before_; }
  PixelLimit(const PixelLimit&) = delete;
  PixelLimit& operator=(const PixelLimit&) = delete;

  static int64_t of_this_thread() { return current_; }

 private:
  static inline thread_local int64_t current_ = kMostPixels;
  int64_t before_;
};

/// What the header of a PNG or JPEG file says. Throws as read_picture().
PictureSize size_of_picture(const std::filesystem::path& file);

/// The picture, scaled to `size` by averaging areas; its shape is not kept. Without a size, as large as in the file.
///
/// PNG and JPEG are told apart by their first bytes. Grey, palettes and CMYK become RGB, 16 bits become 8, what is
/// transparent shows white; colour profiles and the orientation in EXIF are ignored. The rows are averaged as they are
/// read, so that a large picture needs little memory, unless it is interlaced or progressive.
/// Throws Error, with the name of the file, if it is missing, neither of both, too large, damaged or cut short; and
/// Interrupted, soon after it is asked to stop (base/interrupt.h).
Picture read_picture(const std::filesystem::path& file, PictureSize size = {});

/// The bytes of such a file, and what errors call it.
struct PictureBytes {
  std::string bytes, name;
};
/// The same of a file in memory.
PictureSize size_of_picture(const PictureBytes& file);
Picture read_picture(const PictureBytes& file, PictureSize size = {});

/// The same scaling of a picture in memory.
Picture scaled(const Picture& picture, PictureSize size);

/// The bytes of a PNG file.
std::string png_of(const Picture& picture);

}  // namespace heed::data
