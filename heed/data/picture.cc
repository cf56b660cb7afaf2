#include "heed/data/picture.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <string_view>
#include <system_error>

#include "heed/data/area_average.h"
#include "heed/data/picture_rows.h"
#include "heed/tensor/error.h"

namespace heed::data {

namespace {

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using PictureFile = std::unique_ptr<std::FILE, CloseFile>;

PictureFile open_picture(const std::filesystem::path& path) {
  std::error_code ignored;
  expect(!std::filesystem::is_directory(path, ignored), ErrorKind::file, "a folder, not a picture");
  PictureFile file(std::fopen(path.c_str(), "rb"));
  const int why = errno;
  expect(file != nullptr, kind_of_unreadable(why), "cannot open the picture: {}", std::generic_category().message(why));
  return file;
}

std::unique_ptr<PictureRows> rows_of(std::FILE* file) {
  constexpr std::string_view kPng = "\x89PNG\r\n\x1a\n", kJpeg = "\xff\xd8\xff";
  std::array<char, kPng.size()> bytes{};
  const std::string_view start(bytes.data(), std::fread(bytes.data(), 1, bytes.size(), file));
  expect(std::ferror(file) == 0, ErrorKind::file, "cannot read the picture");
  expect(!start.empty(), ErrorKind::file, "the file is empty; a PNG or JPEG picture is expected");
  expect(start == kPng || start.starts_with(kJpeg), ErrorKind::file,
         "neither a PNG nor a JPEG picture, by its first bytes; convert it to one of them");
  expect(std::fseek(file, 0, SEEK_SET) == 0, ErrorKind::file, "cannot go back to its beginning: is it a plain file?");
  return start == kPng ? png_rows(file) : jpeg_rows(file);
}

/// Of the file, with its name in errors.
template <class Use>
auto with_rows(const std::filesystem::path& path, const Use& use) {
  try {
    const PictureFile file = open_picture(path);
    return use(*rows_of(file.get()));
  } catch (const Error& error) {
    throw Error(error.kind(), fmt::format("'{}': {}", path.string(), error.what()));
  }
}

}  // namespace

void PictureRows::set_size(int64_t height, int64_t width) {
  expect(height > 0 && width > 0, ErrorKind::file, "the picture has no pixels: {} x {}", width, height);
  expect(height <= kLargestSide && width <= kLargestSide && height * width <= kMostPixels, ErrorKind::file,
         "the picture has {} x {} pixels; at most {} in all and {} to a side are read: make it smaller", width, height,
         kMostPixels, kLargestSide);
  size_ = {height, width};
}

PictureSize size_of_picture(const std::filesystem::path& path) {
  return with_rows(path, [](const PictureRows& rows) { return rows.size(); });
}

Picture read_picture(const std::filesystem::path& path, PictureSize size) {
  return with_rows(path, [&](PictureRows& rows) {
    const PictureSize from = rows.size();
    const bool as_it_is = size.height == 0;
    rows.begin();
    AreaAverage average(from, as_it_is ? PictureSize{} : size);
    Picture whole(as_it_is ? from.height : 1, from.width);  // or one row
    for (int64_t y = 0; y < from.height; ++y) {
      uint8_t* row = whole.pixel(as_it_is ? y : 0, 0);
      rows.next(row);
      if (!as_it_is) average.add_row(row);
    }
    rows.finish();
    return as_it_is ? whole : average.result();
  });
}

Picture scaled(const Picture& picture, PictureSize size) {
  AreaAverage average(picture.size(), size);
  for (int64_t y = 0; y < picture.height; ++y) average.add_row(picture.pixel(y, 0));
  return average.result();
}

}  // namespace heed::data
