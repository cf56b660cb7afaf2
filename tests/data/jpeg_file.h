// JPEG files of every kind, by libjpeg.
#pragma once

#include <cstddef>
#include <cstdio>
#include <cstdlib>
// It needs the two above.
#include <jpeglib.h>

#include <cstdint>
#include <string>
#include <vector>

namespace heed {

struct JpegKind {
  int64_t width = 0, height = 0;
  int channels = 3;  // 1 grey, 3 RGB, 4 inks
  bool progressive = false;
  bool adobe = true;      // inks: with Adobe's marker, stored as 255 - ink
  bool separate = false;  // RGB: a scan for each channel
};

/// `samples` [height, width, channels].
inline std::string jpeg_file(const JpegKind& kind, const std::vector<uint8_t>& samples) {
  jpeg_compress_struct jpeg{};
  jpeg_error_mgr errors{};
  jpeg.err = jpeg_std_error(&errors);
  jpeg_create_compress(&jpeg);
  unsigned char* bytes = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&jpeg, &bytes, &size);
  jpeg.image_width = static_cast<JDIMENSION>(kind.width);
  jpeg.image_height = static_cast<JDIMENSION>(kind.height);
  jpeg.input_components = kind.channels;
  jpeg.in_color_space = kind.channels == 1 ? JCS_GRAYSCALE : kind.channels == 3 ? JCS_RGB : JCS_CMYK;
  jpeg_set_defaults(&jpeg);
  jpeg_set_quality(&jpeg, 100, TRUE);
  if (kind.channels == 4) jpeg.write_Adobe_marker = kind.adobe ? TRUE : FALSE;
  if (kind.progressive) jpeg_simple_progression(&jpeg);
  const jpeg_scan_info scans[] = {{1, {0}, 0, 63, 0, 0}, {1, {1}, 0, 63, 0, 0}, {1, {2}, 0, 63, 0, 0}};
  if (kind.separate) {
    jpeg.scan_info = scans;
    jpeg.num_scans = 3;
  }
  jpeg_start_compress(&jpeg, TRUE);
  for (int64_t y = 0; y < kind.height; ++y) {
    auto* row = const_cast<uint8_t*>(samples.data()) + y * kind.width * kind.channels;
    jpeg_write_scanlines(&jpeg, &row, 1);
  }
  jpeg_finish_compress(&jpeg);
  jpeg_destroy_compress(&jpeg);
  std::string file(reinterpret_cast<const char*>(bytes), size);
  std::free(bytes);
  return file;
}

}  // namespace heed
