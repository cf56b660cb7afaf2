// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html: "\x93NUMPY", a version, the size of a header,
// the header (a Python dictionary), and the numbers.
#include "heed/sound/npy.h"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <string>

#include "heed/base/error.h"
#include "heed/base/memory.h"

namespace heed::sound {

namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

/// What follows 'name': in the header, without blanks before it.
std::string_view value_of(std::string_view header, std::string_view name) {
  const std::string key = fmt::format("'{}':", name);
  const size_t at = header.find(key);
  expect(at != std::string_view::npos, ErrorKind::file, "its header has no {}", name);
  header.remove_prefix(at + key.size());
  const size_t begin = header.find_first_not_of(' ');
  return begin == std::string_view::npos ? std::string_view() : header.substr(begin);
}

struct Shape {
  int64_t rows = 0, columns = 0;
};

Shape shape_of(std::string_view text) {
  const auto take = [&](int64_t& number, char end) {
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    constexpr int64_t kMost = int64_t{1} << 40;
    if (error != std::errc() || number < 0 || number > kMost || rest == text.data() + text.size() || *rest != end)
      return false;
    text.remove_prefix(static_cast<size_t>(rest - text.data()) + 1);
    while (text.starts_with(' ')) text.remove_prefix(1);
    return true;
  };
  Shape shape;
  const bool opened = text.starts_with('(');
  if (opened) text.remove_prefix(1);
  expect(opened && take(shape.rows, ',') && take(shape.columns, ')'), ErrorKind::file,
         "its shape is not that of frames: an array [frames, bands] with two axes is expected");
  return shape;
}

}  // namespace

bool is_npy(std::string_view bytes) { return bytes.starts_with(kMagic); }

Frames npy_frames(std::string_view bytes) {
  constexpr size_t kVersion = 6;
  expect(is_npy(bytes) && bytes.size() >= 12, ErrorKind::file, "it is cut short: NumPy's arrays begin with a header");
  const auto byte = [&](size_t at) { return static_cast<size_t>(static_cast<uint8_t>(bytes[at])); };
  const size_t version = byte(kVersion);
  expect(version >= 1 && version <= 3, ErrorKind::file, "version {} of NumPy's format; 1 to 3 are read", version);
  const size_t begin = version == 1 ? 10 : 12;
  size_t size = byte(8) | byte(9) << 8;
  if (version > 1) size |= byte(10) << 16 | byte(11) << 24;
  expect(size <= bytes.size() - begin, ErrorKind::file, "it is cut short: its header has {} bytes", size);
  const std::string_view header = bytes.substr(begin, size), numbers = bytes.substr(begin + size);
  const std::string_view kind = value_of(header, "descr");
  const bool doubles = kind.starts_with("'<f8'");
  expect(doubles || kind.starts_with("'<f4'"), ErrorKind::file,
         "its numbers are {}; '<f4' and '<f8' are read: numpy.save(file, array.astype(numpy.float32))",
         kind.substr(0, std::min<size_t>(kind.size(), 8)));
  expect(value_of(header, "fortran_order").starts_with("False"), ErrorKind::file,
         "its numbers stand column by column; numpy.save(file, numpy.ascontiguousarray(array)) puts them row by row");
  const Shape shape = shape_of(value_of(header, "shape"));
  expect(shape.rows > 0 && shape.columns > 0, ErrorKind::file, "it is empty: [{}, {}]", shape.rows, shape.columns);
  const double wanted = static_cast<double>(shape.rows) * static_cast<double>(shape.columns) * (doubles ? 8 : 4);
  expect(wanted == static_cast<double>(numbers.size()), ErrorKind::file,
         "[{}, {}] numbers have {:.0f} bytes, and {} are there: it is cut short or damaged", shape.rows, shape.columns,
         wanted, numbers.size());
  expect_memory(wanted, "an array of frames");
  Frames frames{.rows = shape.rows, .columns = shape.columns};
  frames.values.resize(static_cast<size_t>(shape.rows * shape.columns));
  static_assert(std::endian::native == std::endian::little, "NumPy's '<f4' is little-endian");
  for (size_t i = 0; i < frames.values.size(); ++i) {
    double value = 0;
    if (doubles) {
      std::memcpy(&value, numbers.data() + 8 * i, 8);
    } else {
      float single = 0;
      std::memcpy(&single, numbers.data() + 4 * i, 4);
      value = single;
    }
    expect(std::isfinite(static_cast<float>(value)), ErrorKind::file, "number {} of row {} is {}",
           i % static_cast<size_t>(shape.columns) + 1, i / static_cast<size_t>(shape.columns) + 1, value);
    frames.values[i] = static_cast<float>(value);
  }
  return frames;
}

}  // namespace heed::sound
