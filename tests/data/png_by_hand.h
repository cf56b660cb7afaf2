// PNG files of every kind, without libpng: chunks, zlib and the rules of the specification.
#pragma once

#include <zlib.h>

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

struct PngKind {
  int64_t width = 0, height = 0;
  int bits = 8;
  int colour = 2;  // 0 grey, 2 RGB, 3 palette, 4 grey and alpha, 6 RGB and alpha
  bool interlaced = false;
  std::string palette = {}, transparency = {};  // the contents of PLTE and tRNS

  int channels() const { return colour == 2 ? 3 : colour == 4 ? 2 : colour == 6 ? 4 : 1; }
};

inline std::string big_endian(uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift & 0xff);
  return bytes;
}

inline std::string png_chunk(std::string_view name, std::string_view contents) {
  const std::string checked = std::string(name) + std::string(contents);
  const auto sum = crc32(0, reinterpret_cast<const Bytef*>(checked.data()), static_cast<uInt>(checked.size()));
  return big_endian(static_cast<uint32_t>(contents.size())) + checked + big_endian(static_cast<uint32_t>(sum));
}

inline std::string deflated(std::string_view bytes) {
  uLongf size = compressBound(bytes.size());
  std::string small(size, '\0');
  compress(reinterpret_cast<Bytef*>(small.data()), &size, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
  small.resize(size);
  return small;
}

/// The signature, IHDR, and PLTE and tRNS where they are wanted.
inline std::string png_header(const PngKind& kind) {
  std::string header = big_endian(static_cast<uint32_t>(kind.width)) + big_endian(static_cast<uint32_t>(kind.height));
  header += static_cast<char>(kind.bits);
  header += static_cast<char>(kind.colour);
  header += std::string(2, '\0');
  header += static_cast<char>(kind.interlaced);
  std::string png = "\x89PNG\r\n\x1a\n" + png_chunk("IHDR", header);
  if (!kind.palette.empty()) png += png_chunk("PLTE", kind.palette);
  if (!kind.transparency.empty()) png += png_chunk("tRNS", kind.transparency);
  return png;
}

/// `sample` gives the value of a channel of a pixel, below 2^bits.
inline std::string png_by_hand(const PngKind& kind,
                               const std::function<int(int64_t y, int64_t x, int channel)>& sample) {
  struct Pass {
    int64_t top, left, down, right;
  };
  const std::vector<Pass> adam7 = {{0, 0, 8, 8}, {0, 4, 8, 8}, {4, 0, 8, 4}, {0, 2, 4, 4},
                                   {2, 0, 4, 2}, {0, 1, 2, 2}, {1, 0, 2, 1}};
  std::string rows;
  for (const Pass& pass : kind.interlaced ? adam7 : std::vector<Pass>{{0, 0, 1, 1}}) {
    if (pass.left >= kind.width) continue;  // a pass without pixels has no rows either
    for (int64_t y = pass.top; y < kind.height; y += pass.down) {
      rows += '\0';  // no filter
      uint32_t bits = 0;
      int filled = 0;
      for (int64_t x = pass.left; x < kind.width; x += pass.right)
        for (int c = 0; c < kind.channels(); ++c) {
          bits = bits << kind.bits | static_cast<uint32_t>(sample(y, x, c));
          for (filled += kind.bits; filled >= 8; filled -= 8) rows += static_cast<char>(bits >> (filled - 8) & 0xff);
        }
      if (filled > 0) rows += static_cast<char>(bits << (8 - filled) & 0xff);
    }
  }
  return png_header(kind) + png_chunk("IDAT", deflated(rows)) + png_chunk("IEND", "");
}

}  // namespace heed
