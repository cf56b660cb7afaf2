#include "heed/data/picture.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <new>
#include <string_view>
#include <system_error>

#include "heed/base/error.h"
#include "heed/base/interrupt.h"
#include "heed/base/open_file.h"
#include "heed/data/area_average.h"
#include "heed/data/picture_rows.h"

namespace heed::data {

namespace {

constexpr std::string_view kPng = "\x89PNG\r\n\x1a\n", kJpeg = "\xff\xd8\xff";

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using PictureFile = std::unique_ptr<std::FILE, CloseFile>;

PictureFile open_picture(const std::filesystem::path& path) {
  const int descriptor = text::open_to_read(path);
  const int why = errno;
  expect(descriptor >= 0, kind_of_unreadable(why), "cannot open the picture: {}", std::generic_category().message(why));
  PictureFile file(::fdopen(descriptor, "rb"));
  if (!file) {
    ::close(descriptor);
    throw std::bad_alloc();
  }
  // Its beginning is read twice; and a line of text must not make a program wait for a writer, or read a terminal.
  const std::string_view other = text::other_than_a_file(descriptor);
  expect(other.empty(), ErrorKind::file, "{}, not a picture", other);
  return file;
}

PictureFile open_picture(const PictureBytes& picture) {
  expect(!picture.bytes.empty(), ErrorKind::file, "there are no bytes; a PNG or JPEG picture is expected");
  // Opened for reading: nothing is written through the pointer.
  PictureFile file(::fmemopen(const_cast<char*>(picture.bytes.data()), picture.bytes.size(), "rb"));
  if (!file) throw std::bad_alloc();
  return file;
}

std::unique_ptr<PictureRows> rows_of(std::FILE* file) {
  std::array<char, kPng.size()> bytes{};
  const std::string_view start(bytes.data(), std::fread(bytes.data(), 1, bytes.size(), file));
  expect(std::ferror(file) == 0, ErrorKind::file, "cannot read the picture");
  expect(!start.empty(), ErrorKind::file, "the file is empty; a PNG or JPEG picture is expected");
  const PictureKind kind = kind_of_picture(start);
  expect(kind != PictureKind::none, ErrorKind::file,
         "neither a PNG nor a JPEG picture, by its first bytes; convert it to one of them");
  expect(std::fseek(file, 0, SEEK_SET) == 0, ErrorKind::file, "cannot go back to its beginning: is it a plain file?");
  return kind == PictureKind::png ? png_rows(file) : jpeg_rows(file);
}

std::string name_of(const std::filesystem::path& path) { return path.string(); }
std::string name_of(const PictureBytes& picture) { return picture.name; }

/// Of a path or of bytes, with its name in errors.
template <class Where, class Use>
auto with_rows(const Where& where, const Use& use) {
  try {
    const PictureFile file = open_picture(where);
    return use(*rows_of(file.get()));
  } catch (const Error& error) {
    throw Error(error.kind(), fmt::format("'{}': {}", name_of(where), error.what()));
  }
}

template <class Where>
Picture read_rows(const Where& where, PictureSize size) {
  return with_rows(where, [&](PictureRows& rows) {
    const PictureSize from = rows.size();
    const bool as_it_is = size.height == 0;
    rows.begin();
    AreaAverage average(from, as_it_is ? PictureSize{} : size);
    Picture whole(as_it_is ? from.height : 1, from.width);  // or one row
    for (int64_t y = 0; y < from.height; ++y) {
      stop_if_interrupted();
      uint8_t* row = whole.pixel(as_it_is ? y : 0, 0);
      rows.next(row);
      if (!as_it_is) average.add_row(row);
    }
    rows.finish();
    return as_it_is ? whole : average.result();
  });
}

}  // namespace

PictureKind kind_of_picture(std::string_view bytes) {
  if (bytes.starts_with(kPng)) return PictureKind::png;
  return bytes.starts_with(kJpeg) ? PictureKind::jpeg : PictureKind::none;
}

void PictureRows::set_size(int64_t height, int64_t width) {
  expect(height > 0 && width > 0, ErrorKind::file, "the picture has no pixels: {} x {}", width, height);
  const int64_t most = PixelLimit::of_this_thread();
  expect(height <= kLargestSide && width <= kLargestSide && height * width <= most, ErrorKind::file,
         "the picture has {} x {} pixels; at most {} in all and {} to a side are read: make it smaller", width, height,
         most, kLargestSide);
  size_ = {height, width};
}

PictureSize size_of_picture(const std::filesystem::path& path) {
  return with_rows(path, [](const PictureRows& rows) { return rows.size(); });
}

PictureSize size_of_picture(const PictureBytes& picture) {
  return with_rows(picture, [](const PictureRows& rows) { return rows.size(); });
}

Picture read_picture(const std::filesystem::path& path, PictureSize size) { return read_rows(path, size); }
Picture read_picture(const PictureBytes& picture, PictureSize size) { return read_rows(picture, size); }

Picture scaled(const Picture& picture, PictureSize size) {
  AreaAverage average(picture.size(), size);
  for (int64_t y = 0; y < picture.height; ++y) average.add_row(picture.pixel(y, 0));
  return average.result();
}

}  // namespace heed::data
